"""Pages without scripts, embeds, social card and sitemap."""
