"""A page that takes a moment, served by itself: what somebody sees until it is whole."""

from __future__ import annotations

import time

import streamlit as st

from arena.site.ui.html import skeleton

with skeleton("slow"):
    st.button("Again")
    time.sleep(2)
    st.text("Whole")
