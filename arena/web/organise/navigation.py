"""The organisers' pages in the navigation, offered to organisers; the services refuse everybody else."""

from __future__ import annotations

from typing import Literal

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from arena.web.organise.common import is_organiser
from arena.web.pages import (
    organise_annotate,
    organise_audit,
    organise_calibration,
    organise_data,
    organise_people,
    organise_rounds,
)


def organiser_pages() -> list[StreamlitPage]:
    """Every page of organisers; hidden ones still open by their address."""
    seen: Literal["visible", "hidden"] = "visible" if is_organiser() else "hidden"
    return [
        st.Page(organise_data.show, title="Organise sets", url_path="admin-data", visibility=seen),
        st.Page(organise_rounds.show, title="Organise rounds", url_path="admin-rounds", visibility=seen),
        st.Page(
            organise_calibration.show, title="Calibration", url_path="admin-calibration", visibility=seen
        ),
        st.Page(organise_annotate.show, title="Annotation", url_path="annotate", visibility=seen),
        st.Page(organise_people.show, title="People", url_path="admin-people", visibility=seen),
        st.Page(organise_audit.show, title="Audit log", url_path="admin-audit", visibility=seen),
    ]
