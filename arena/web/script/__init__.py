"""The script that Streamlit runs, away from `pages`: a folder of that name beside it means pages by file."""
