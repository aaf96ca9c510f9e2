"""Design system of the site, independent of its features."""
