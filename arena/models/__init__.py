"""Responses of an arena as frozen values; a test compares them with its OpenAPI document."""
