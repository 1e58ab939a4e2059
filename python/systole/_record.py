"""What a run reports."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any, Dict, Optional, Union

import numpy as np
from numpy.typing import NDArray

from ._errors import Error


class Section(Dict[str, Any]):
    """An object of report.json. Its keys are attributes too, where no method of ``dict`` has the name."""

    def __getattr__(self, key: str) -> Any:
        try:
            return self[key]
        except KeyError:
            known = ", ".join(self)
            raise AttributeError(f"the report has no {key} here; there are {known}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(key for key in self if key.isidentifier())]


def _element(values: list[Any], name: str) -> Any:
    """An element by its index, or by its name, as in formulas of studies (docs/studies.md)."""
    if name.isdecimal():
        return values[int(name)]
    for value in values:
        if isinstance(value, dict) and name in (value.get("name"), value.get("baseline")):
            return value
    raise KeyError(name)


class Record(Section):
    """The report of a run: the keys of report.json, and the run's arrays.

    ``record.cycles`` and ``record["cycles"]`` are the same value. Times are in seconds, energies in joules.
    """

    #: Real numbers of each output of the network, float32, first axis: the inferences. Empty in a timing-only run.
    #: Of a network of arrays each output in its own format, with the first axis only for several inferences.
    outputs: dict[str, NDArray[Any]]
    #: The same as the chip stores them, for outputs that are integers.
    stored_outputs: dict[str, NDArray[Any]]
    #: The outputs of the float reference, where the run asked for them (``float_outputs``).
    float_outputs: dict[str, NDArray[Any]]
    #: Warnings of the simulator.
    warnings: list[str]

    @property
    def predictions(self) -> NDArray[Any]:
        """The class of each inference, of the network's first output. Empty in a timing-only run."""
        return np.asarray(self.get("predictions") or [], dtype=np.int64)

    def metric(self, path: str) -> Any:
        """The value at a dotted path of report.json: "energy.joules", "layers.conv2d.cycles", "layers.0.cycles".

        Raises Error if there is none; ``None`` is the report's null.
        """
        place: Any = self
        for name in path.split("."):
            try:
                place = _element(place, name) if isinstance(place, list) else place[name]
            except (KeyError, IndexError, TypeError):
                raise Error(f"metric {path}: the report has no {name} there") from None
        return place

    def save(self, folder: Union[str, Path]) -> Path:
        """Writes FOLDER/report.json, which ``sim report`` reads, and returns its path."""
        place = Path(folder) / "report.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(self, indent=2) + "\n", encoding="utf-8")
        return place

    def __repr__(self) -> str:
        return f"<systole.Record of {self.model} on {self.machine}: {self.cycles:,} cycles>"

    def _repr_html_(self) -> str:
        clock = self.configuration.machine.clock_mhz
        rows = [("time", f"{self.seconds * 1e6:,.1f} µs, {self.cycles:,} cycles at {clock:g} MHz")]

        def add(name: str, value: Optional[float], text: str) -> None:
            if value is not None:
                rows.append((name, text.format(value)))

        share = self.get("host_share")
        if share:
            names = ", ".join(layer["name"] for layer in share["layers"])
            rows.insert(0, ("on the host", f"{100 * share['macs_share']:.1f} % of the multiply-accumulates: {names}"))
        for what, why in self.get("left_out", {}).items():
            rows.append((f"no {what}", why))
        add("inferences", self.inferences, "{:,}")
        add("throughput", self.inferences_per_second, "{:,.0f} inf/s")
        add("latency", self.get("latency_ms") and self.latency_ms * 1e3, "{:,.1f} µs")
        if self.batch and self.inferences > self.batch:
            add("a batch every", self.seconds_per_batch and self.seconds_per_batch * 1e6, "{:,.1f} µs")
        add("accuracy", self.accuracy and 100 * self.accuracy, "{:.2f} %")
        training = self.get("training")
        if training:
            all_steps = f"{training.steps:,} steps in {training.seconds:.4g} s, {training.cycles_a_step:,} cycles each"
            rows.insert(0, ("training", all_steps))
            add("trained on", training.examples_per_second, "{:,.0f} examples/s")
        add("energy", self.energy.joules, "{:.4g} J")
        add("power", self.energy.watts, "{:.3g} W")
        lines = "".join(f"<tr><th>{name}</th><td>{escape(text)}</td></tr>" for name, text in rows)
        return f"<table><caption>{escape(f'{self.model} on {self.machine}')}</caption>{lines}</table>"


def read_record(text: bytes, warnings: list[str]) -> Record:
    """The record of a worker's answer, or of report.json. Its files of arrays may be removed after that."""
    sections = json.loads(text, object_pairs_hook=Section)
    record = Record(sections)
    record.outputs, record.stored_outputs, record.float_outputs = {}, {}, {}
    record.warnings = warnings
    for file in record.pop("output_files", []):
        is_stored = file["file"].endswith(".raw.npy")
        if file["kind"] == "float_outputs":
            arrays = record.float_outputs
        else:
            arrays = record.stored_outputs if is_stored else record.outputs
        arrays[file["output"]] = np.load(file["file"], allow_pickle=False)
    return record
