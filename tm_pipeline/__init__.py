"""A Dagster pipeline that turns product texts into translated read models, paying for each text once."""

__version__ = "0.1.0"
