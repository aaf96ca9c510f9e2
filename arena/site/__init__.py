"""The site: pages and API routes, which only translate."""
