"""The site: pages and API routes; all rules are in the services."""
