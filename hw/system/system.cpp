#include "hw/system/system.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/message_text.h"
#include "hw/isa/access_history.h"
#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "hw/isa/program_rules.h"
#include "hw/timing/matrix_unit.h"
#include "hw/timing/tensor.h"
#include "hw/timing/tiles.h"

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

/// Adds the tiles of a program from `place` on, as far as the memory's bytes go: each takes the size of the
/// whole array.
void add_tiles(const isa::Program& program, std::uint64_t place, std::uint64_t bytes, WeightImage& image) {
    const std::vector<bool> is_written = isa::written_tiles(program);
    for (std::size_t number = 0; number < program.tiles.size(); ++number) {
        const isa::WeightTile& tile = program.tiles[number];
        if (place + isa::memory_bytes(tile, program.geometry) > bytes) break;
        const std::size_t row_bytes = std::size_t{tile.columns} * bytes_of(tile.type);
        const std::size_t stride = std::size_t{program.geometry.columns} * bytes_of(tile.type);
        if (row_bytes == stride && !is_written[number]) {
            image.refer_to(place, tile.values);
        } else {
            const auto rows = image.make(place, tile.rows * stride);
            for (std::size_t row = 0; row < tile.rows; ++row) {
                std::copy_n(tile.values.data() + row * row_bytes, row_bytes, rows.data() + row * stride);
            }
        }
        place += isa::memory_bytes(tile, program.geometry);
    }
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

void check_residents(const isa::Program& program, std::uint64_t rows) {
    for (const isa::ResidentTensor& resident : program.residents) {
        const std::uint64_t end = resident.end_row(program.geometry.tensor.lanes);
        if (end <= rows) continue;
        throw isa::ProgramError(
            fmt::format("{} {} of the program stays in memory up to {} {}; the machine has {} rows",
                        isa::resident_side_names.at(static_cast<std::size_t>(resident.side)), resident.number,
                        isa::place_name(isa::MemoryId::Hbm), end - 1, rows));
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

void check_tiles(const isa::Program& program, const machine::MachineConfig& machine) {
    const isa::TileGrid grid = timing::grid_of(machine);
    const isa::TileGrid& made_for = program.geometry.tiles;
    if (!program.geometry.has_tiles()) {
        throw isa::ProgramError(
            fmt::format("the program was made for a systolic array; machine {} has tiles", machine.name));
    }
    if (made_for == grid) return;
    throw isa::ProgramError(
        fmt::format("the program was made for {} x {} tiles of {} lanes and {} units; machine {} has {} x {} "
                    "of {} and {}",
                    made_for.lines, made_for.columns, made_for.lanes, made_for.units, machine.name,
                    grid.lines, grid.columns, grid.lanes, grid.units));
}

/// The tiles that the program writes, if its first tile is at `address` in weight memory.
void check_written_tiles(const isa::Program& program, std::uint64_t address,
                         const machine::MachineConfig& machine, const SystemOptions& options) {
    const std::vector<std::uint64_t> ends = isa::tile_ends(program, address);
    for (std::size_t number = 0; number < program.instructions.size(); ++number) {
        const auto* const write = std::get_if<isa::WriteWeights>(&program.instructions[number]);
        if (write == nullptr) continue;
        const auto fail = [&](std::string_view rule) {
            throw isa::ProgramError(
                fmt::format("instruction {} ({}): {}", number, isa::to_string(*write), rule));
        };
        if (const auto rule = isa::broken_rule(*write, program)) fail(*rule);
        if (const auto refusal = machine.weight_memory.refusal_of_write(ends[write->tile])) fail(*refusal);
        if (options.weight_memory != nullptr) fail("a weight memory of the caller's is only read");
    }
}

/// The array that the program was made for.
void check_array(const isa::Program& program, const machine::MachineConfig& machine) {
    const isa::Geometry& geometry = program.geometry;
    if (geometry.rows == machine.matrix_unit.rows && geometry.columns == machine.matrix_unit.columns) return;
    throw isa::ProgramError(
        fmt::format("the program was made for an array of {} x {}; machine {} has {} x {}", geometry.rows,
                    geometry.columns, machine.name, machine.matrix_unit.rows, machine.matrix_unit.columns));
}

void check_tensor_core(const isa::Program& program, const machine::MachineConfig& machine) {
    if (!program.geometry.has_tensor_core()) {
        throw isa::ProgramError(fmt::format("the program was made for {}; machine {} has a tensor core",
                                            program.geometry.has_tiles() ? "tiles" : "a unified buffer",
                                            machine.name));
    }
    check_array(program, machine);
    const std::uint32_t lanes = timing::tensor_shape_of(machine).lanes;
    if (program.geometry.tensor.lanes != lanes) {
        throw isa::ProgramError(fmt::format("the program was made for {} lanes; machine {} has {}",
                                            program.geometry.tensor.lanes, machine.name, lanes));
    }
    check_initial_rows(program, isa::MemoryId::Hbm, machine.hbm_rows_of_core());
    check_residents(program, machine.hbm_rows_of_core());
    isa::check_products(program);
    isa::check_cores(program, machine.cores());
}

void check_program(const isa::Program& program, const machine::MachineConfig& machine,
                   const SystemOptions& options) {
    if (program.instructions.size() >= std::numeric_limits<isa::Position>::max()) {
        throw isa::ProgramError(fmt::format("the program has {} instructions; a system takes less than {}",
                                            program.instructions.size(),
                                            std::numeric_limits<isa::Position>::max()));
    }
    const isa::Geometry& geometry = program.geometry;
    if (machine.family == machine::Family::TensorCore) {
        check_tensor_core(program, machine);
        check_host(program, options);
        return;
    }
    if (geometry.has_tensor_core()) {
        throw isa::ProgramError(
            fmt::format("the program was made for a tensor core; machine {} has none", machine.name));
    }
    if (machine.family == machine::Family::EdgeTpu) {
        check_tiles(program, machine);
        check_host(program, options);
        return;
    }
    if (geometry.has_tiles()) {
        throw isa::ProgramError(
            fmt::format("the program was made for tiles; machine {} has a systolic array", machine.name));
    }
    check_array(program, machine);
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
}

/// Cores that a machine says it has.
std::size_t cores_of(const machine::MachineConfig& machine) {
    return machine.family == machine::Family::TensorCore ? machine.system.all_cores() : 1;
}

/// The machine, which all of the programs fit.
const machine::MachineConfig& checked(const machine::MachineConfig& machine, const Programs& programs,
                                      const SystemOptions& options) {
    if (programs.empty() || programs.size() > most_cores) {
        throw isa::ProgramError(fmt::format(
            "there are {} programs; a system has 1 to {} cores, with one each", programs.size(), most_cores));
    }
    const bool has_any_number = machine.family == machine::Family::TpuV1;
    const std::size_t cores = cores_of(machine);
    if (!has_any_number && programs.size() != cores) {
        throw isa::ProgramError(fmt::format("there are {} programs; machine {} has {}", programs.size(),
                                            machine.name, counted(cores, "core")));
    }
    const bool is_for_one = options.registers != nullptr || options.weight_memory != nullptr;
    if (programs.size() > 1 && is_for_one) {
        throw std::logic_error("registers and a weight memory of the caller's are for systems of one core");
    }
    std::uint64_t bytes = 0;
    std::size_t tiles = 0;
    for (const isa::Program* const program : programs) {
        bytes += weight_image_bytes(*program);
        tiles += program->tiles.size();
    }
    if (bytes > machine.weight_memory.bytes && !machine.weight_memory.spill) {
        throw isa::ProgramError(
            fmt::format("the program's {} weight tiles take {} bytes; the weight memory has {}, and its key "
                        "spill is false",
                        tiles, bytes, machine.weight_memory.bytes));
    }
    std::uint64_t address = 0;
    for (const isa::Program* const program : programs) {
        check_program(*program, machine, options);
        if (machine.family == machine::Family::TpuV1) {
            check_written_tiles(*program, address, machine, options);
            address += weight_image_bytes(*program);
        }
    }
    return machine;
}

std::vector<CoreObservers> observers_of(const SystemOptions& options, std::size_t cores) {
    std::vector<CoreObservers> observers{{.trace = options.trace, .host_trace = options.host_trace}};
    observers.insert(observers.end(), options.other_cores.begin(), options.other_cores.end());
    observers.resize(cores);
    return observers;
}

bool has_weight_memory(const machine::MachineConfig& machine) {
    return machine.family == machine::Family::TpuV1;
}

/// Whether units besides the weight FIFO use the weight memory.
bool writes_weights(const machine::MachineConfig& machine) {
    return has_weight_memory(machine) && machine.weight_memory.writable.has_value();
}

/// Cores with one link to the host.
std::size_t cores_of_chip(const machine::MachineConfig& machine, const Programs& programs) {
    return machine.family == machine::Family::TensorCore ? machine.system.cores : programs.size();
}

std::vector<std::unique_ptr<Chip>> make_chips(const machine::MachineConfig& machine, const Clock& clock) {
    std::vector<std::unique_ptr<Chip>> chips;
    if (machine.family != machine::Family::TensorCore) return chips;
    for (std::uint32_t chip = 0; chip < machine.system.chips; ++chip) {
        chips.push_back(std::make_unique<Chip>(fmt::format("chip{}", chip).c_str(), machine, clock));
    }
    return chips;
}

}  // namespace

System::System(const sc_core::sc_module_name& name, const machine::MachineConfig& machine,
               const isa::Program& program, SystemOptions options)
    : System(name, machine, Programs(cores_of(machine), &program), std::move(options)) {}

System::System(const sc_core::sc_module_name& name, const machine::MachineConfig& machine,
               const Programs& programs, SystemOptions options)
    : sc_module(name),
      machine_(checked(machine, programs, options)),
      observers_(observers_of(options, programs.size())),
      clock_(make_clock(std::move(options.test_delta_delay))),
      programs_(programs),
      computes_values_(options.values == Values::Computed),
      order_(programs.size()),
      workers_(order_, options.value_threads),
      host_link_(machine_, programs.size(), cores_of_chip(machine_, programs), clock_),
      host_memory_("host_memory", options.values, has_weight_memory(machine_) ? programs.size() : 0),
      weight_memory_(options.weight_memory == nullptr && has_weight_memory(machine_)
                         ? std::make_unique<WeightMemory>("weight_memory", machine_, clock_, programs.size())
                         : nullptr),
      chips_(make_chips(machine_, clock_)),
      collectives_(programs.size(), clock_) {
    const bool has_several = programs.size() > 1;
    if (has_several) {
        semaphores_ = std::make_unique<Semaphores>(clock_, order_);
        accesses_ = std::make_unique<SharedAccesses>(order_);
    }
    WeightImage image;
    std::uint64_t address = 0;
    for (std::size_t core = 0; core < programs.size(); ++core) {
        const isa::Program& program = *programs[core];
        failure_.begin_core();
        const CoreContext context{
            .machine = machine_,
            .values = options.values,
            .clock = clock_,
            .order = order_,
            .workers = workers_,
            .failure = failure_,
            .host_link = host_link_,
            .host_memory = host_memory_,
            .weight_memory = weight_memory_ ? &weight_memory_->sockets[core] : options.weight_memory,
            .hbm = chips_.empty() ? nullptr : &chips_[chip_of(core)]->hbm,
            .collectives = &collectives_,
            .tile_values = weight_memory_ ? TileValues::InMemory : TileValues::Copied,
            .weight_address = address,
            .host = options.host,
            .trace = observers_[core].trace,
            .host_trace =
                host_traces_.emplace_back(TraceFanOut{observers_[core].trace, observers_[core].host_trace})
                    .sink(),
            .registers = options.registers,
            .core = core,
            .cores = programs.size(),
            .shared_weights = has_several || writes_weights(machine_) ? weight_memory_.get() : nullptr,
            .shared_semaphores = semaphores_.get(),
            .shared_accesses = accesses_.get()};
        const std::string core_name = has_several ? fmt::format("core{}", core) : "core";
        cores_.push_back(make_core(core_name.c_str(), context, program));
        // Programs that are one have the same buffers, constants too.
        if (std::find(programs.begin(), programs.begin() + static_cast<std::ptrdiff_t>(core), &program) ==
            programs.begin() + static_cast<std::ptrdiff_t>(core)) {
            host_memory_.load(program);
        }
        if (options.values == Values::Computed) {
            add_tiles(program, address, machine_.weight_memory.bytes, image);
        }
        address += weight_image_bytes(program);
    }
    if (options.values == Values::TimingOnly || !has_weight_memory(machine_)) return;
    if (weight_memory_) {
        weight_memory_->load(std::move(image));
    } else {
        write_image(image, isa::resident_bytes(*programs.front(), machine_.weight_memory.bytes),
                    *options.weight_memory->get_base_export().operator->());
    }
}

void System::run(const std::function<void(InstructionNumber)>& progress, Cycle pause) {
    const JobsDone jobs_done(workers_);
    for_each_trace([](TraceSink& trace, const Core& core) { trace.begun(core.traced()); });
    copy_residents(isa::ResidentSide::Input);
    try {
        simulate(progress, pause);
        for (const auto& core : cores_) {
            if (!core->halted()) in_core(*core, [&] { core->report_stuck(); });
        }
    } catch (const isa::ProgramError&) {
        for_each_trace([](TraceSink& trace, const Core& core) { trace.failed(core.where_it_failed()); });
        throw;
    }
    workers_.finish();
    copy_residents(isa::ResidentSide::Output);
    for (const auto& core : cores_) core->finish(cycles());
    if (weight_memory_) weight_memory_->finish(cycles(), cores_.front()->last_tag());
    for_each_trace([&](TraceSink& trace, const Core& core) { trace.ended(cycles(), core.last_tag()); });
}

void System::copy_residents(isa::ResidentSide side) {
    if (!computes_values_) return;
    for (std::size_t core = 0; core < cores_.size(); ++core) {
        const isa::Program& program = *programs_[core];
        const std::uint64_t lanes = program.geometry.tensor.lanes;
        for (const isa::ResidentTensor& resident : program.residents) {
            if (resident.side != side) continue;
            HbmAccess& memory = chips_[chip_of(core)]->hbm.part(core % machine_.system.cores);
            std::uint8_t* const host = host_memory_.host_bytes(isa::host_address(resident, program, core),
                                                               resident.words() * isa::word_bytes);
            isa::for_each_part(resident, lanes,
                               [&](std::uint64_t word, std::uint64_t row, std::uint64_t count) {
                                   std::uint8_t* const bytes = host + word * isa::word_bytes;
                                   std::uint32_t* const words = memory.from_row(row);
                                   if (side == isa::ResidentSide::Input) {
                                       std::memcpy(words, bytes, count * isa::word_bytes);
                                   } else {
                                       std::memcpy(bytes, words, count * isa::word_bytes);
                                   }
                               });
        }
    }
}

template <class Tell>
void System::for_each_trace(const Tell& tell) const {
    for (std::size_t core = 0; core < cores_.size(); ++core) {
        if (observers_[core].trace != nullptr) tell(*observers_[core].trace, *cores_[core]);
    }
}

template <class Fail>
void System::in_core(const Core& core, const Fail& fail) const {
    const auto named = [&core](const isa::ProgramError& error) {
        return fmt::format("{}: {}", core.basename(), error.what());
    };
    try {
        fail();
    } catch (const isa::ProgramErrorAtLine& error) {
        if (cores_.size() == 1) throw;
        throw isa::ProgramErrorAtLine(named(error), error.line);
    } catch (const isa::ProgramError& error) {
        if (cores_.size() == 1) throw;
        throw isa::ProgramError(named(error));
    }
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
            if (in_steps) progress(issued());
        } while (in_steps && sc_core::sc_pending_activity());
    } catch (const CoreRace& race) {
        fail(race);
    } catch (const OrderViolation& violation) {
        in_core(failed_core(), [&] { failed_core().fail(violation); });
    } catch (const InstructionError& error) {
        in_core(failed_core(), [&] { failed_core().fail(error); });
    } catch (const isa::ProgramError& error) {
        in_core(failed_core(), [&] { failed_core().fail_in_sequencer(error); });
    }
}

void System::fail(const CoreRace& race) const {
    const auto describe = [&](const CoreRace::Instruction& each) {
        return fmt::format("instruction {} of core {}", cores_[each.core]->describe(each.number), each.core);
    };
    cores_[race.first.core]->fail(
        race.first.number,
        fmt::format(
            "{} and {} both touch {}s {} to {}, and nothing orders them; a semaphore of the system is "
            "missing",
            describe(race.first), describe(race.second), isa::place_name(race.memory), race.rows.first,
            race.rows.last - 1));
}

InstructionNumber System::issued() const {
    InstructionNumber all = 0;
    for (const auto& core : cores_) all += core->issued();
    return all;
}

Cycle System::cycles() const {
    Cycle last = 0;
    for (const auto& core : cores_) last = std::max(last, core->end());
    return last;
}

std::size_t System::chip_of(std::size_t core) const {
    return chips_.empty() ? 0 : core / machine_.system.cores;
}

std::string System::path_of_chip(std::size_t chip) const {
    const std::string name = machine_.chip_name(chip);
    return name.empty() ? "" : name + ".";
}

std::string System::path_of(std::size_t core) const {
    if (cores_.size() == 1) return "";
    return (chips_.empty() ? fmt::format("core{}", core) : machine_.core_name(core)) + ".";
}

std::vector<System::SharedMemory> System::shared_memories() const {
    std::vector<SharedMemory> memories;
    if (weight_memory_) memories.push_back({.path = "", .unit = weight_memory_.get()});
    for (std::size_t chip = 0; chip < chips_.size(); ++chip) {
        memories.push_back({.chip = chip, .path = path_of_chip(chip), .unit = &chips_[chip]->hbm});
    }
    return memories;
}

std::vector<System::CountedPart> System::counted_parts() const {
    std::vector<CountedPart> parts;
    const auto add = [](CountedPart& part, const UnitModule& unit) {
        part.groups.insert(part.groups.end(), unit.counter_groups().begin(), unit.counter_groups().end());
        part.details.insert(part.details.end(), unit.detail_groups().begin(), unit.detail_groups().end());
    };
    for (std::size_t core = 0; core < cores_.size(); ++core) {
        CountedPart& part = parts.emplace_back(CountedPart{.path = path_of(core), .core = core});
        const std::vector<const UnitModule*> units = cores_[core]->units();
        for (const UnitModule* const unit : units) {
            // Memories that cores share stand behind the units on the data's path, before the last core's
            // processor of the host.
            if (core + 1 == cores_.size() && unit == units.back()) break;
            add(part, *unit);
        }
    }
    for (const SharedMemory& each : shared_memories()) {
        add(parts.emplace_back(CountedPart{.path = each.path}), *each.unit);
    }
    const std::size_t last = cores_.size() - 1;
    add(parts.emplace_back(CountedPart{.path = path_of(last), .core = last}), *cores_[last]->units().back());
    return parts;
}

std::vector<PlacedCounters> System::counters() const {
    std::vector<PlacedCounters> groups, details;
    for (const CountedPart& part : counted_parts()) {
        for (const PlacedCounters& own : part.groups) groups.push_back({part.path + own.path, own.group});
        for (const PlacedCounters& own : part.details) details.push_back({part.path + own.path, own.group});
    }
    groups.insert(groups.end(), details.begin(), details.end());
    return groups;
}

std::vector<machine::UnitDescription> System::descriptions() const {
    std::vector<machine::UnitDescription> units;
    for (const UnitModule* const unit : cores_.front()->from_the_array()) {
        units.push_back(unit->description(machine_));
    }
    if (!chips_.empty()) units.push_back(chips_.front()->hbm.description(machine_));
    if (!has_weight_memory(machine_)) return units;
    std::uint64_t weight_bytes = 0;
    for (const auto& core : cores_) {
        weight_bytes += isa::resident_bytes(core->program(), machine_.weight_memory.bytes);
    }
    units.push_back(describe_weight_memory(machine_, weight_bytes));
    return units;
}

std::vector<machine::Bound> System::bounds() const {
    std::vector<ProgramUnits> units;
    for (std::size_t core = 0; core < cores_.size(); ++core) {
        units.push_back({.chip = chip_of(core),
                         .units = cores_[core]->from_the_array(),
                         .layers = cores_[core]->program().layers.size()});
    }
    for (const SharedMemory& each : shared_memories())
        units.push_back({.chip = each.chip, .units = {each.unit}});
    return bounds_of(units, machine_);
}

}  // namespace systole::hw
