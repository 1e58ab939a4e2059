#include "sim/view/trace/tracer.h"

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "hw/machine/config_error.h"
#include "sim/view/trace/line_writers.h"

namespace systole::trace {

std::vector<std::pair<std::string_view, std::string_view>> files_of(const TraceConfig& config) {
    std::vector<std::pair<std::string_view, std::string_view>> files;
    for (const TraceFile& file : trace_files) {
        if (config.has(file.kind)) files.emplace_back(file.kind, file.name);
    }
    return files;
}

Tracer::Tracer(const TraceConfig& config, const isa::Program& program, const machine::MachineConfig& machine,
               const std::filesystem::path& folder)
    : window_(config, program), program_(program) {
    if (config.has("timeline")) {
        files_.push_back(std::make_unique<GzipFile>(folder / timeline_file));
        const ChromeEvents events(*files_.back(), machine.clock_hz());
        for (std::uint32_t core = 0; core < machine.cores(); ++core) {
            const std::string of_core = machine.core_name(core);
            const std::string name = of_core.empty() ? machine.name : machine.name + " " + of_core;
            timelines_.emplace_back(events.of_process(core + 1), name, window_, program, machine);
        }
        told_behind_.add(&timelines_.front());
    }
    if (config.has("csv")) {
        auto file = std::make_unique<OutputFile>(folder / csv_file);
        auto writer = std::make_unique<CsvLines>(*file, program);
        add_lines(std::move(file), std::move(writer));
    }
    if (config.has("text")) {
        auto file = std::make_unique<OutputFile>(folder / text_file);
        auto writer = std::make_unique<TextLines>(*file, program);
        add_lines(std::move(file), std::move(writer));
    }
    if (hw::TraceSink* const first = told_behind_.sink()) {
        std::vector<hw::TraceSink*> sinks{first};
        for (std::size_t core = 1; core < timelines_.size(); ++core) sinks.push_back(&timelines_[core]);
        all_.add(&background_.emplace(std::move(sinks)).of_core(0));
    }
    // Waves only record events until the run is over, so another thread would not help them.
    if (config.has("waves"))
        all_.add(&waves_.emplace(config, program, machine, folder / waves_file).of_core(0));
}

Tracer::~Tracer() {
    if (closed_) return;
    try {
        if (background_) background_->finish();
        close();
    } catch (...) {  // the run has failed already, and its error is the one to report
    }
}

void Tracer::add_lines(std::unique_ptr<OutputFile> file, std::unique_ptr<LineWriter> writer) {
    files_.push_back(std::move(file));
    writers_.push_back(std::move(writer));
    lines_.push_back(std::make_unique<InstructionLines>(program_, window_, *writers_.back()));
    told_behind_.add(lines_.back().get());
}

std::vector<OccupiedTrack> occupied_tracks(const run::RunRecord& record) {
    std::vector<OccupiedTrack> tracks;
    if (!record.occupancy) return tracks;
    for (const run::ValuesOfMemory& each : record.occupancy->values.memories) {
        const machine::Occupied& memory = run::occupied(record, each.unit);
        if (memory.track.empty()) continue;
        tracks.push_back({memory.track, memory.places, occupancy::changes_of(each.values, record.cycles)});
    }
    return tracks;
}

void Tracer::finish(Cycle cycles, const Afterwards& known) {
    if (all_.sink() == nullptr) return;
    if (background_) background_->finish();
    if (!timelines_.empty()) {
        if (known.power) timelines_.front().power(*known.power);
        for (const OccupiedTrack& each : known.memories) timelines_.front().memory(each);
    }
    close();
    if (window_.from() > 0 && window_.from() >= cycles) {
        throw machine::ConfigError(fmt::format(
            "trace.from is {}; the window is empty: the run ended after {} cycles", window_.from(), cycles));
    }
}

void Tracer::close() {
    closed_ = true;
    std::exception_ptr first_error;
    const auto attempt = [&](const auto& step) {
        try {
            step();
        } catch (...) {
            if (!first_error) first_error = std::current_exception();
        }
    };
    attempt([&] {
        if (!timelines_.empty()) timelines_.front().finish();
    });
    for (const auto& writer : writers_) attempt([&] { writer->finish(); });
    for (const auto& file : files_) attempt([&] { file->close(); });
    attempt([&] {
        if (waves_) waves_->write();
    });
    if (first_error) std::rethrow_exception(first_error);
}

}  // namespace systole::trace
