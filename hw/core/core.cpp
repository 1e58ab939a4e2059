#include "hw/core/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "hw/common/order_checker.h"
#include "hw/common/ports.h"
#include "hw/common/unit_module.h"
#include "hw/core/stuck.h"
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

UnitContext with_trace(UnitContext context, TraceSink* trace) {
    context.trace = trace;
    return context;
}

void check_host(const isa::Program& program, const CoreOptions& options) {
    if (options.host != nullptr) return;
    for (std::size_t number = 0; number < program.instructions.size(); ++number) {
        const auto* const work = std::get_if<isa::HostWork>(&program.instructions[number]);
        if (work == nullptr) continue;
        throw isa::ProgramError(
            fmt::format("instruction {} ({}): the host is to compute segment \"{}\"; there is no host",
                        number, isa::to_string(*work), program.host_segments.at(work->segment).name));
    }
}

const isa::Program& check_fits(const isa::Program& program, const machine::MachineConfig& machine,
                               const CoreOptions& options) {
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
    return program;
}

}  // namespace

Core::Core(const sc_core::sc_module_name& name, const machine::MachineConfig& machine,
           const isa::Program& program, CoreOptions options)
    : sc_module(name),
      program_(check_fits(program, machine, options)),
      machine_(machine),
      host_trace_({options.trace, options.host_trace}),
      clock_(make_clock(std::move(options.test_delta_delay))),
      workers_(order_, options.value_threads),
      semaphores_(clock_, order_),
      ports_(port_places(machine_), clock_),
      context_{.machine = machine_,
               .values = options.values,
               .clock = clock_,
               .semaphores = semaphores_,
               .order = order_,
               .workers = workers_,
               .ports = ports_,
               .waits = waits_,
               .failure = failure_,
               .trace = options.trace},
      host_memory_("host_memory", options.values),
      unified_buffer_("unified_buffer", machine_),
      host_interface_("host_interface", with_trace(context_, host_trace_.sink()), unified_buffer_),
      weight_memory_(options.weight_memory == nullptr
                         ? std::make_unique<WeightMemory>("weight_memory", machine_, clock_)
                         : nullptr),
      weight_fifo_("weight_fifo", context_, host_interface_),
      accumulators_("accumulators", machine_),
      matrix_unit_("matrix_unit", context_, weight_fifo_, accumulators_,
                   {.host = isa::uses_host(program),
                    .row_sums = isa::uses_weight_zero_points(program),
                    .registers = options.registers}),
      systolic_data_setup_("systolic_data_setup", context_, unified_buffer_, matrix_unit_),
      activation_unit_("activation_unit", context_, accumulators_, unified_buffer_),
      host_processor_("host_processor", with_trace(context_, host_trace_.sink()), program, options.host,
                      host_memory_),
      sequencer_("sequencer", context_, host_interface_,
                 {&host_interface_.read_queue(), &host_interface_.write_queue(), &weight_fifo_.queue(),
                  &systolic_data_setup_.queue(), &activation_unit_.queue(), &host_processor_.queue()}) {
    for (CommandQueue* queue : queues()) queue->observe(options.trace);
    host_interface_.memory.bind(host_memory_.socket);
    weight_fifo_.memory.bind(weight_memory_ ? weight_memory_->socket : *options.weight_memory);
    host_memory_.load(program);
    if (options.values == Values::Computed) {
        const std::uint64_t resident = isa::resident_bytes(program, machine.weight_memory.bytes);
        if (weight_memory_) {
            weight_memory_->load(weight_image(program, resident));
        } else {
            write_image(weight_image(program, resident), resident,
                        *options.weight_memory->get_base_export().operator->());
        }
    }
    weight_fifo_.load(program, weight_memory_ ? TileValues::InMemory : TileValues::Copied);
    sequencer_.load(program);
    load_initial_rows();
}

void Core::load_initial_rows() {
    const auto count = [&](const isa::InitialRows& initial, isa::MemoryId memory) {
        return isa::rows_of(initial, memory, program_.geometry).count();
    };
    for (const isa::InitialRows& initial : program_.initial[isa::MemoryId::UnifiedBuffer]) {
        std::copy(initial.values.begin(), initial.values.end(),
                  unified_buffer_.write(initial.first_row, count(initial, isa::MemoryId::UnifiedBuffer)));
    }
    static_assert(std::endian::native == std::endian::little, "sums are kept as they lie in the program");
    for (const isa::InitialRows& initial : program_.initial[isa::MemoryId::Accumulators]) {
        const std::uint64_t rows = count(initial, isa::MemoryId::Accumulators);
        std::memcpy(accumulators_.write(initial.first_row, rows), initial.values.data(),
                    initial.values.size());
    }
}

void Core::run(const std::function<void(InstructionNumber)>& progress, Cycle pause) {
    const JobsDone jobs_done(workers_);
    try {
        simulate(progress, pause);
        if (!sequencer_.halted()) report_stuck();
    } catch (const isa::ProgramError&) {
        if (context_.trace != nullptr) context_.trace->failed(where_it_failed());
        throw;
    }
    workers_.finish();
    const Cycle end = sequencer_.end();
    const Tag tag = sequencer_.last_tag();
    for (sc_core::sc_object* const child : get_child_objects()) {
        if (auto* const unit = dynamic_cast<UnitModule*>(child)) unit->finish(end, tag);
    }
    if (context_.trace != nullptr) context_.trace->ended(end, tag);
}

void Core::simulate(const std::function<void(InstructionNumber)>& progress, Cycle pause) {
    const bool in_steps = progress && pause > 0;
    try {
        do {
            if (in_steps) {
                sc_core::sc_start(clock_.delay_until(clock_.now() + pause), sc_core::SC_RUN_TO_TIME);
            } else {
                sc_core::sc_start();
            }
            failure_.rethrow();
            if (in_steps) progress(sequencer_.issued());
        } while (in_steps && sc_core::sc_pending_activity());
    } catch (const OrderViolation& violation) {
        fail(violation.later,
             fmt::format("instruction {} is not ordered behind instruction {}, and both touch {}; a sync "
                         "between their units is missing",
                         describe(violation.later), describe_other(violation.earlier),
                         conflict(violation.earlier, violation.later)));
    } catch (const InstructionError& error) {
        fail(error.number, fmt::format("instruction {}: {}", describe(error.number), error.what()));
    } catch (const isa::ProgramError& error) {
        // The sequencer's: of the instruction that it issues next, or of the last if there is none.
        const InstructionNumber last = program_.instructions.size();
        fail(std::min(sequencer_.issued(), last == 0 ? 0 : last - 1), error.what());
    }
}

void Core::fail(InstructionNumber number, const std::string& message) const {
    const std::size_t line = isa::line_of(program_, number);
    if (line > 0) throw isa::ProgramErrorAtLine(message, line);
    throw isa::ProgramError(message);
}

FailureTimes Core::where_it_failed() {
    const Cycle now = clock_.now();
    FailureTimes where{
        .at = now, .tag = sequencer_.last_tag(), .issue = sequencer_.waiting(now), .queues = {}};
    for (const CommandQueue* queue : queues()) {
        if (const auto first = queue->waiting(now)) where.queues.push_back(*first);
    }
    return where;
}

std::array<CommandQueue*, isa::queue_count> Core::queues() {
    return {&host_interface_.read_queue(), &host_interface_.write_queue(), &weight_fifo_.queue(),
            &systolic_data_setup_.queue(), &activation_unit_.queue(),      &host_processor_.queue()};
}

std::string Core::describe(InstructionNumber number) const {
    return fmt::format("{} ({})", number, isa::to_string(program_.instructions.at(number)));
}

std::string Core::describe_other(InstructionNumber number) const {
    const std::size_t line = isa::line_of(program_, number);
    if (line == 0) return describe(number);
    return fmt::format("{} (line {}: {})", number, line, isa::to_string(program_.instructions.at(number)));
}

std::string Core::conflict(InstructionNumber earlier, InstructionNumber later) const {
    isa::Registers registers;
    isa::Footprint first;
    for (InstructionNumber number = 0; number < later; ++number) {
        const isa::Instruction& instruction = program_.instructions[number];
        if (const auto* set = std::get_if<isa::SetConfig>(&instruction)) registers.set(set->reg, set->value);
        if (number == earlier) first = isa::footprint(instruction, registers, program_);
    }
    const isa::Footprint second = isa::footprint(program_.instructions[later], registers, program_);
    // A row that the first writes says more than one that it reads.
    for (const isa::Access access : {isa::Access::Write, isa::Access::Read}) {
        for (const isa::MemoryRows& a : first) {
            for (const isa::MemoryRows& b : second) {
                const bool is_conflict = a.memory == b.memory && a.access == access &&
                                         (access == isa::Access::Write || b.access == isa::Access::Write) &&
                                         a.rows.overlaps(b.rows);
                if (!is_conflict) continue;
                return fmt::format("{}s {} to {}", isa::place_name(a.memory),
                                   std::max(a.rows.first, b.rows.first),
                                   std::min(a.rows.last, b.rows.last) - 1);
            }
        }
    }
    // The checker gives the latest instruction of a unit; the conflict is with this or an earlier one.
    return "rows of an instruction before";
}

void Core::report_stuck() {
    StuckProgram stuck{.program = program_, .issued = sequencer_.issued(), .waiting = {}};
    const auto all_queues = queues();
    std::transform(all_queues.begin(), all_queues.end(), stuck.waiting.begin(),
                   [](const CommandQueue* queue) { return queue->current(); });
    const std::vector<StuckWait> waits = waits_of(stuck);
    std::string text;
    for (const StuckWait& wait : waits) {
        text += fmt::format("{}{} waits in instruction {} {}", text.empty() ? "" : "; ", wait.unit,
                            text.empty() ? describe(wait.number) : describe_other(wait.number), wait.reason);
    }
    fail(waits.front().number, fmt::format("the program cannot finish: {}", text));
}

std::vector<PlacedCounters> Core::counters() const {
    // Reports list the units in the order of the data path. Registration cannot give this order: a unit is
    // built after the units it refers to, so the sequencer, first in reports, is built last. Units that are
    // missing here come last.
    constexpr std::array<std::string_view, 13> order{"sequencer",
                                                     "host_interface",
                                                     "host_read",
                                                     "host_write",
                                                     "unified_buffer",
                                                     "weight_fifo",
                                                     "systolic_data_setup",
                                                     "matrix_unit",
                                                     "matrix_unit.non_matrix_reasons",
                                                     "accumulators",
                                                     "activation_unit",
                                                     "weight_memory",
                                                     "host"};
    const auto place = [&](const PlacedCounters& placed) {
        return std::find(order.begin(), order.end(), placed.path) - order.begin();
    };
    std::vector<PlacedCounters> groups = counters_below(*this);
    std::stable_sort(groups.begin(), groups.end(),
                     [&](const PlacedCounters& a, const PlacedCounters& b) { return place(a) < place(b); });
    return groups;
}

}  // namespace systole::hw
