#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "hw/common/fan_out.h"
#include "hw/common/trace.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "sim/view/energy/power_over_time.h"
#include "sim/view/occupancy/over_time.h"
#include "sim/view/trace/background.h"
#include "sim/view/trace/instruction_lines.h"
#include "sim/view/trace/output_file.h"
#include "sim/view/trace/timeline.h"
#include "sim/view/trace/trace_config.h"
#include "sim/view/trace/waves.h"
#include "sim/view/trace/window.h"

namespace systole::trace {

inline constexpr const char* timeline_file = "timeline.json.gz";
inline constexpr const char* csv_file = "instructions.csv";
inline constexpr const char* text_file = "instructions.txt";
inline constexpr const char* waves_file = "waves.vcd";

/// What is known of a run only when it is over; a timeline shows it.
struct Afterwards {
    std::optional<energy::PowerOverTime> power = {};
    occupancy::Changes buffer_rows = {};  ///< rows of the unified buffer in use
};

/// Writes the traces that a run asks for into its folder, while it runs.
class Tracer {
public:
    /// Program and machine must outlive the object. Throws ConfigError where the program lacks a layer asked
    /// for or waves cannot show what is asked for, TraceError where a file cannot be made.
    Tracer(const TraceConfig& config, const isa::Program& program, const machine::MachineConfig& machine,
           const std::filesystem::path& folder);
    /// Of a run that has failed, the files end where it did.
    ~Tracer();
    Tracer(const Tracer&) = delete;
    Tracer& operator=(const Tracer&) = delete;

    /// Who is to hear of the run; null where nothing is asked for.
    hw::TraceSink* sink() { return all_.sink(); }
    /// Who is to hear of the array's registers; null where nothing is asked for.
    hw::RegisterSink* registers() { return waves_ && waves_->has_cells() ? &*waves_ : nullptr; }

    /// The run is over, after `cycles`: the files are whole. Throws TraceError, and ConfigError where the
    /// window begins behind the run.
    void finish(Cycle cycles, const Afterwards& known);

    /// Whether what is known afterwards is shown anywhere.
    bool has_timeline() const { return timeline_.has_value(); }

private:
    void add_lines(std::unique_ptr<OutputFile> file, std::unique_ptr<LineWriter> writer);
    /// Closes every file, whatever becomes of the others; throws what went wrong first.
    void close();

    const Window window_;
    const isa::Program& program_;
    std::vector<std::unique_ptr<OutputFile>> files_;
    std::optional<Timeline> timeline_;
    std::vector<std::unique_ptr<LineWriter>> writers_;
    std::vector<std::unique_ptr<InstructionLines>> lines_;
    hw::TraceFanOut told_behind_;
    std::optional<Background> background_;  ///< behind what it tells
    std::optional<Waves> waves_;
    hw::TraceFanOut all_;
    bool closed_ = false;
};

}  // namespace systole::trace
