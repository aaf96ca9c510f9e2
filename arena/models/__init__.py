"""Responses of an arena as frozen values; a test holds them against its OpenAPI document."""
