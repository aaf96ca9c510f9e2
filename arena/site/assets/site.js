// Where Streamlit's server is. Its script would look for it below the page first, which is two requests in vain.
window.__streamlit = { BACKEND_BASE_URL: new URL("./", document.currentScript.src).href };
