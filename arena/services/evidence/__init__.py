"""The evidence behind a number: questions, claims, weaknesses, reports to teams."""
