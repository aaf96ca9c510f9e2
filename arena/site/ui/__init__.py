"""The design system of the site: it knows no feature."""
