#pragma once

#include <cstdint>
#include <string>

#include "hw/machine/config_fields.h"
#include "sim/run/record/fields.h"

namespace systole::run {

/// A computer that makes the input of each step while the chip computes the one before, and that the chip
/// waits for between loops of steps. A step is a batch of a run, or a step of a training. No cycle of the
/// chip depends on it: the report adds its waits to the chip's time.
struct Feeding {
    double example_us = 0.0;       ///< that an example of the input takes to make
    double step_ms = 0.0;          ///< that the input of a step takes besides
    std::uint64_t examples = 0;    ///< of a step; 0: those of the training, else the images of the batch
    std::uint64_t loop_steps = 0;  ///< steps that the chip makes before it waits; 0: it does not
    double gap_ms = 0.0;           ///< in which the chip waits behind each loop

    /// Whether the run has such a computer.
    bool is_given() const { return example_us > 0.0 || step_ms > 0.0 || gap_ms > 0.0; }
    /// Throws ConfigError "place: key is value; rule".
    void validate(const std::string& place) const;
    bool operator==(const Feeding&) const = default;
};
SYSTOLE_RECORD_FIELDS(Feeding, example_us, step_ms, examples, loop_steps, gap_ms)

// The fields, declared once for reading and writing.
template <class Visitor>
void describe(Visitor& visitor, Feeding& feeding) {
    visitor.field({"example_us", "us", "time that the host takes to make an example of the input"},
                  feeding.example_us, machine::RealRange{0.0, 1e9});
    visitor.field({"step_ms", "ms", "time that the input of a step takes the host besides"}, feeding.step_ms,
                  machine::RealRange{0.0, 1e9});
    visitor.field({.key = "examples",
                   .meaning = "examples of a step; 0: those of the training, else the images of the batch",
                   .rule = "it goes with feeding.example_us"},
                  feeding.examples, machine::Range{0, std::uint64_t{1} << 40U});
    visitor.field(
        {"loop_steps", "", "steps of a loop, behind which the chip waits for the host; 0: no loops"},
        feeding.loop_steps, machine::Range{0, std::uint64_t{1} << 40U});
    visitor.field({.key = "gap_ms",
                   .unit = "ms",
                   .meaning = "time for which the chip waits behind each loop",
                   .rule = "it needs feeding.loop_steps"},
                  feeding.gap_ms, machine::RealRange{0.0, 1e9});
}

}  // namespace systole::run
