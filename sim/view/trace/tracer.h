#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hw/common/fan_out.h"
#include "hw/common/trace.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "sim/run/record/trace_config.h"
#include "sim/view/energy/power_over_time.h"
#include "sim/view/occupancy/occupancy.h"
#include "sim/view/trace/background.h"
#include "sim/view/trace/instruction_lines.h"
#include "sim/view/trace/output_file.h"
#include "sim/view/trace/timeline.h"
#include "sim/view/trace/waves.h"
#include "sim/view/trace/window.h"

namespace systole::trace {

inline constexpr const char* timeline_file = "timeline.json.gz";
inline constexpr const char* csv_file = "instructions.csv";
inline constexpr const char* text_file = "instructions.txt";
inline constexpr const char* waves_file = "waves.vcd";

/// The file of a kind of trace.
struct TraceFile {
    std::string_view kind;
    const char* name;
    std::string_view begins;  ///< its first bytes, which tell it from a file of the user
};
inline constexpr std::array<TraceFile, 4> trace_files{{{"timeline", timeline_file, "\x1f\x8b"},  // gzip
                                                       {"csv", csv_file, "number,repetition,layer,"},
                                                       {"text", text_file, "  number  unit"},
                                                       {"waves", waves_file, "$date"}}};

/// The kinds of trace that a run requests, each with the name of its file.
std::vector<std::pair<std::string_view, std::string_view>> files_of(const TraceConfig& config);

/// Data for the timeline that is known only after the run.
struct Afterwards {
    std::optional<energy::PowerOverTime> power = {};
    std::vector<std::vector<OccupiedTrack>> memories = {};  ///< by core
};

/// The memories of each core that have a track, if the run noted their occupancy.
std::vector<std::vector<OccupiedTrack>> occupied_tracks(const run::RunRecord& record);

/// Writes the requested traces of a run into its folder, during the run.
class Tracer {
public:
    /// Program and machine must outlive the object. Throws ConfigError if the program lacks a requested layer
    /// or if waves cannot show the requested cycles or elements, and OutputError if a file cannot be created.
    Tracer(const TraceConfig& config, const isa::Program& program, const machine::MachineConfig& machine,
           const std::filesystem::path& folder);
    /// If the run has failed, the files end at the failure.
    ~Tracer();
    Tracer(const Tracer&) = delete;
    Tracer& operator=(const Tracer&) = delete;

    /// The sink of a core's events; null if no trace is requested.
    hw::TraceSink* sink(std::size_t core = 0) { return cores_.at(core).all.sink(); }
    /// The sink of the array's registers; null if no trace shows them.
    hw::RegisterSink* registers() { return waves_ && waves_->has_cells() ? &*waves_ : nullptr; }

    /// The run has ended after `cycles`: completes the files. Throws OutputError, and ConfigError if the
    /// window begins after the end of the run.
    void finish(Cycle cycles, const Afterwards& known);

    /// Whether a trace shows the data that is known only after the run.
    bool has_timeline() const { return !timelines_.empty(); }

private:
    /// The receivers of a core's events.
    struct Core {
        std::string name;  ///< empty of a machine with one
        hw::TraceFanOut behind = {};
        hw::TraceFanOut all = {};
    };

    void add_lines(std::unique_ptr<OutputFile> file, std::unique_ptr<LineWriter> writer);
    /// Closes every file, even if closing another one fails; then throws the first error.
    void close();

    const Window window_;
    const isa::Program& program_;
    const std::string machine_name_;
    std::vector<std::unique_ptr<OutputFile>> files_;
    std::optional<ChromeEvents> machine_;  ///< what the timeline shows of all cores together
    std::deque<Timeline> timelines_;       ///< by core
    std::vector<std::unique_ptr<LineWriter>> writers_;
    std::vector<std::unique_ptr<InstructionLines>> lines_;
    std::deque<Core> cores_;
    std::optional<Background> background_;  ///< declared after the sinks to which it forwards
    std::optional<Waves> waves_;
    bool closed_ = false;
};

}  // namespace systole::trace
