"""Labels as files: votes, human labels, RAG-QA Arena, Label Studio, Argilla, and what items come to."""
