"""Small JSON outputs of Dagster ops, kept where every host can read them."""

from sqlalchemy import Connection, delete, select

from tm_pipeline.store.tables import op_output as t
from tm_pipeline.store.upserts import upsert

KEY = ("run_id", "step_key", "output_name", "mapping_key")


def store_output(
    conn: Connection, run_id: str, step_key: str, output_name: str, mapping_key: str, json_text: str
) -> None:
    """Keep one output; the same step run again replaces it."""
    row = {
        "run_id": run_id,
        "step_key": step_key,
        "output_name": output_name,
        "mapping_key": mapping_key,
        "value": json_text,
    }
    upsert(conn, t, [row], key=KEY, changed=("value",))


def load_output(conn: Connection, run_id: str, step_key: str, output_name: str, mapping_key: str) -> str | None:
    """The JSON text of an output, or None."""
    statement = select(t.c.value).where(
        t.c.run_id == run_id,
        t.c.step_key == step_key,
        t.c.output_name == output_name,
        t.c.mapping_key == mapping_key,
    )
    return conn.execute(statement).scalar_one_or_none()


def delete_outputs(conn: Connection, run_id: str) -> int:
    """Forget the outputs of a run."""
    return conn.execute(delete(t).where(t.c.run_id == run_id)).rowcount
