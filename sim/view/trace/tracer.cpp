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
    : window_(config, program), program_(program), machine_name_(machine.name) {
    for (std::uint32_t core = 0; core < machine.cores(); ++core) cores_.push_back({machine.core_name(core)});
    const bool has_several = cores_.size() > 1;
    if (config.has("timeline")) {
        files_.push_back(std::make_unique<GzipFile>(folder / timeline_file));
        const ChromeEvents events(*files_.back(), machine.clock_hz());
        for (Core& core : cores_) {
            const std::string name = has_several ? machine.name + " " + core.name : machine.name;
            const auto process = static_cast<unsigned>(timelines_.size() + 1);
            timelines_.emplace_back(events.of_process(process), name, window_, program, machine);
            core.behind.add(&timelines_.back());
        }
        machine_.emplace(events.of_process(has_several ? static_cast<unsigned>(cores_.size() + 1) : 1U));
    }
    if (config.has("csv")) {
        auto file = std::make_unique<OutputFile>(folder / csv_file);
        auto writer = std::make_unique<CsvLines>(*file, program, has_several);
        add_lines(std::move(file), std::move(writer));
    }
    if (config.has("text")) {
        auto file = std::make_unique<OutputFile>(folder / text_file);
        auto writer = std::make_unique<TextLines>(*file, program, has_several);
        add_lines(std::move(file), std::move(writer));
    }
    if (!files_.empty()) {
        std::vector<hw::TraceSink*> sinks;
        for (Core& core : cores_) sinks.push_back(core.behind.sink());
        background_.emplace(std::move(sinks));
        for (std::size_t core = 0; core < cores_.size(); ++core) {
            cores_[core].all.add(&background_->of_core(core));
        }
    }
    if (!config.has("waves")) return;
    // Waves only record events until the run is over, so another thread would not help them.
    waves_.emplace(config, program, machine, folder / waves_file);
    for (std::size_t core = 0; core < cores_.size(); ++core) cores_[core].all.add(&waves_->of_core(core));
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
    for (Core& core : cores_) {
        lines_.push_back(std::make_unique<InstructionLines>(program_, window_, *writers_.back(), core.name));
        core.behind.add(lines_.back().get());
    }
}

std::vector<std::vector<OccupiedTrack>> occupied_tracks(const run::RunRecord& record) {
    std::vector<std::vector<OccupiedTrack>> cores;
    for (std::uint32_t core = 0; core < record.spec.machine.cores(); ++core) {
        const std::optional<run::Occupancy>& occupancy = run::occupancy_of(record, core);
        if (!occupancy) return {};
        std::vector<OccupiedTrack>& tracks = cores.emplace_back();
        for (const run::ValuesOfMemory& each : occupancy->values.memories) {
            const machine::Occupied& memory = run::occupied(record, each.unit);
            if (memory.track.empty()) continue;
            tracks.push_back(
                {memory.track, memory.places, occupancy::changes_of(each.values, record.cycles)});
        }
    }
    return cores;
}

void Tracer::finish(Cycle cycles, const Afterwards& known) {
    if (sink() == nullptr) return;
    if (background_) background_->finish();
    if (!timelines_.empty()) {
        if (known.power) {
            if (cores_.size() > 1) machine_->name_process(machine_name_ + " all cores");
            show_power(*machine_, window_, *known.power);
        }
        for (std::size_t core = 0; core < known.memories.size(); ++core) {
            for (const OccupiedTrack& each : known.memories[core]) timelines_[core].memory(each);
        }
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
