"""The one reader of tables of texts: answers, questions, contexts, items to score.

`columns` has the names of columns, `values` converts what stands in cells, `reader` opens any container.
"""
