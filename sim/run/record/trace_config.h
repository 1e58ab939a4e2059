#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "hw/machine/config_fields.h"

namespace systole::trace {

/// The traces that a run writes beside its report, and the part of the run that they show.
struct TraceConfig {
    std::vector<std::string> kinds = {};   ///< names of trace_kinds; empty: no trace
    std::uint64_t from = 0;                ///< cycle: events that end before it are left out
    std::uint64_t to = 0;                  ///< cycle: events that begin at it or later are left out; 0: none
    std::vector<std::string> layers = {};  ///< events of other layers are left out; empty: none
    std::vector<std::string> processing_elements = {};  ///< whose registers waves show; see read_cells

    /// Throws ConfigError "place: key is value; rule".
    void validate(const std::string& place) const;
    bool has(std::string_view kind) const;
};

/// All kinds, with their names in run files and on the command line.
const std::vector<std::string>& trace_kinds();

// The fields, declared once for reading and writing.
template <class Visitor>
void describe(Visitor& visitor, TraceConfig& config) {
    constexpr std::uint64_t last_cycle = std::numeric_limits<std::uint64_t>::max();
    visitor.field({"kinds", "", "traces to write: timeline, csv, text, waves"}, config.kinds);
    visitor.field({"from", "cycles", "events that end before it are left out"}, config.from,
                  machine::Range{0, last_cycle});
    visitor.field({"to", "cycles", "events that begin at it or later are left out; 0 for the end of the run"},
                  config.to, machine::Range{0, last_cycle});
    visitor.field({"layers", "", "events of other layers are left out"}, config.layers);
    visitor.field({"processing_elements", "", "whose registers waves show: ROW,COLUMN, or ranges"},
                  config.processing_elements);
}

}  // namespace systole::trace
