#include "hw/system/system.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "hw/isa/program_rules.h"
#include "hw/timing/matrix_unit.h"

namespace systole::hw {

namespace {

Clock make_clock(std::function<unsigned()> test_delta_delay) {
    Clock clock;
    if (test_delta_delay) clock.perturb(std::move(test_delta_delay));
    return clock;
}

std::uint64_t weight_image_bytes(const isa::Program& program) {
    std::uint64_t bytes = 0;
    for (const isa::WeightTile& tile : program.tiles) bytes += isa::memory_bytes(tile, program.geometry);
    return bytes;
}

/// The weight image in weight memory: each tile takes the size of the whole array.
WeightImage weight_image(const isa::Program& program, std::uint64_t bytes) {
    WeightImage image;
    std::uint64_t place = 0;
    for (const isa::WeightTile& tile : program.tiles) {
        if (place >= bytes) break;
        const std::size_t row_bytes = std::size_t{tile.columns} * bytes_of(tile.type);
        const std::size_t stride = std::size_t{program.geometry.columns} * bytes_of(tile.type);
        if (row_bytes == stride) {
            image.refer_to(place, tile.values);
        } else {
            const auto rows = image.make(place, tile.rows * stride);
            for (std::size_t row = 0; row < tile.rows; ++row) {
                std::copy_n(tile.values.data() + row * row_bytes, row_bytes, rows.data() + row * stride);
            }
        }
        place += isa::memory_bytes(tile, program.geometry);
    }
    return image;
}

/// Writes bytes into a memory that is not the core's own.
void write_bytes(std::uint64_t address, std::span<const std::uint8_t> bytes,
                 tlm::tlm_fw_transport_if<>& memory) {
    tlm::tlm_generic_payload payload;
    payload.set_write();
    payload.set_address(address);
    // The TLM interface carries a writable pointer; a write only reads the bytes.
    payload.set_data_ptr(const_cast<std::uint8_t*>(bytes.data()));
    payload.set_data_length(static_cast<unsigned>(bytes.size()));
    payload.set_streaming_width(payload.get_data_length());
    const unsigned written = memory.transport_dbg(payload);
    if (written == payload.get_data_length()) return;
    throw std::logic_error(fmt::format("weight memory: transport_dbg wrote {} of {} bytes at address {}",
                                       written, payload.get_data_length(), address));
}

/// Writes the image, up to the end of its last tile: a fetch reads whole tiles, also of fewer rows.
void write_image(const WeightImage& image, std::uint64_t total_bytes, tlm::tlm_fw_transport_if<>& memory) {
    std::uint64_t end = 0;
    for (const auto& [address, region] : image.regions()) {
        write_bytes(address, region.bytes, memory);
        end = std::max(end, address + region.bytes.size());
    }
    if (end < total_bytes) write_bytes(end, std::vector<std::uint8_t>(total_bytes - end), memory);
}

void check_initial_rows(const isa::Program& program, isa::MemoryId memory, std::uint64_t rows) {
    for (const isa::InitialRows& initial : program.initial[memory]) {
        const isa::RowRange touched = isa::rows_of(initial, memory, program.geometry);
        if (touched.last <= rows) continue;
        throw isa::ProgramError(
            fmt::format("the program begins with values in {}s {} to {}; the machine has {} rows",
                        isa::place_name(memory), touched.first, touched.last - 1, rows));
    }
}

/// Waits for all jobs at the end of a run, also if an exception ends it.
class JobsDone {
public:
    explicit JobsDone(ValueWorkers& workers) : workers_(workers) {}
    ~JobsDone() { workers_.wait_for_all(); }
    JobsDone(const JobsDone&) = delete;
    JobsDone& operator=(const JobsDone&) = delete;

private:
    ValueWorkers& workers_;
};

void check_host(const isa::Program& program, const SystemOptions& options) {
    if (options.host != nullptr) return;
    for (std::size_t number = 0; number < program.instructions.size(); ++number) {
        const auto* const work = std::get_if<isa::HostWork>(&program.instructions[number]);
        if (work == nullptr) continue;
        throw isa::ProgramError(
            fmt::format("instruction {} ({}): the host is to compute segment \"{}\"; there is no host",
                        number, isa::to_string(*work), program.host_segments.at(work->segment).name));
    }
}

/// The machine, which the program fits.
const machine::MachineConfig& checked(const machine::MachineConfig& machine, const isa::Program& program,
                                      const SystemOptions& options) {
    const isa::Geometry& geometry = program.geometry;
    if (geometry.rows != machine.matrix_unit.rows || geometry.columns != machine.matrix_unit.columns) {
        throw isa::ProgramError(fmt::format(
            "the program was made for an array of {} x {}; machine {} has {} x {}", geometry.rows,
            geometry.columns, machine.name, machine.matrix_unit.rows, machine.matrix_unit.columns));
    }
    const std::uint64_t bytes = weight_image_bytes(program);
    if (bytes > machine.weight_memory.bytes && !machine.weight_memory.spill) {
        throw isa::ProgramError(
            fmt::format("the program's {} weight tiles take {} bytes; the weight memory has {}, and its key "
                        "spill is false",
                        program.tiles.size(), bytes, machine.weight_memory.bytes));
    }
    check_initial_rows(program, isa::MemoryId::UnifiedBuffer, machine.unified_buffer.rows);
    check_initial_rows(program, isa::MemoryId::Accumulators, machine.accumulators.rows);
    isa::check_initial_sums(program, machine.accumulators.sum_bits);
    timing::check_formats(program, machine);
    check_host(program, options);
    if (options.values == Values::Computed) {
        const auto empty = std::find_if(program.tiles.begin(), program.tiles.end(),
                                        [](const isa::WeightTile& tile) { return tile.values.empty(); });
        if (empty != program.tiles.end()) {
            throw isa::ProgramError(fmt::format("tile {} has no values; such a program can only be timed",
                                                std::distance(program.tiles.begin(), empty)));
        }
    }
    return machine;
}

}  // namespace

System::System(const sc_core::sc_module_name& name, const machine::MachineConfig& machine,
               const isa::Program& program, SystemOptions options)
    : sc_module(name),
      machine_(checked(machine, program, options)),
      trace_(options.trace),
      host_trace_({options.trace, options.host_trace}),
      clock_(make_clock(std::move(options.test_delta_delay))),
      workers_(order_, options.value_threads),
      host_memory_("host_memory", options.values),
      weight_memory_(options.weight_memory == nullptr
                         ? std::make_unique<WeightMemory>("weight_memory", machine_, clock_)
                         : nullptr),
      core_("core",
            {.machine = machine_,
             .values = options.values,
             .clock = clock_,
             .order = order_,
             .workers = workers_,
             .failure = failure_,
             .host_memory = host_memory_,
             .weight_memory = weight_memory_ ? weight_memory_->socket : *options.weight_memory,
             .tile_values = weight_memory_ ? TileValues::InMemory : TileValues::Copied,
             .host = options.host,
             .trace = options.trace,
             .host_trace = host_trace_.sink(),
             .registers = options.registers},
            program) {
    host_memory_.load(program);
    if (options.values == Values::TimingOnly) return;
    const std::uint64_t resident = isa::resident_bytes(program, machine_.weight_memory.bytes);
    if (weight_memory_) {
        weight_memory_->load(weight_image(program, resident));
    } else {
        write_image(weight_image(program, resident), resident,
                    *options.weight_memory->get_base_export().operator->());
    }
}

void System::run(const std::function<void(InstructionNumber)>& progress, Cycle pause) {
    const JobsDone jobs_done(workers_);
    try {
        simulate(progress, pause);
        if (!core_.halted()) core_.report_stuck();
    } catch (const isa::ProgramError&) {
        if (trace_ != nullptr) trace_->failed(core_.where_it_failed());
        throw;
    }
    workers_.finish();
    core_.finish();
    if (weight_memory_) weight_memory_->finish(cycles(), core_.last_tag());
    if (trace_ != nullptr) trace_->ended(cycles(), core_.last_tag());
}

void System::simulate(const std::function<void(InstructionNumber)>& progress, Cycle pause) {
    const bool in_steps = progress && pause > 0;
    try {
        do {
            if (in_steps) {
                sc_core::sc_start(clock_.delay_until(clock_.now() + pause), sc_core::SC_RUN_TO_TIME);
            } else {
                sc_core::sc_start();
            }
            failure_.rethrow();
            if (in_steps) progress(core_.issued());
        } while (in_steps && sc_core::sc_pending_activity());
    } catch (const OrderViolation& violation) {
        core_.fail(violation);
    } catch (const InstructionError& error) {
        core_.fail(error);
    } catch (const isa::ProgramError& error) {
        core_.fail_in_sequencer(error);
    }
}

std::vector<PlacedCounters> System::counters() const {
    std::vector<const UnitModule*> units = core_.units();
    // Memories of the system stand behind the units on the data's path, before the host's processor.
    if (weight_memory_) units.insert(std::prev(units.end()), weight_memory_.get());
    std::vector<PlacedCounters> groups;
    for (const UnitModule* const unit : units) {
        groups.insert(groups.end(), unit->counter_groups().begin(), unit->counter_groups().end());
    }
    return groups;
}

}  // namespace systole::hw
