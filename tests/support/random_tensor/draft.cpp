#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "hw/isa/footprint.h"
#include "hw/isa/program_error.h"
#include "hw/isa/program_rules.h"
#include "tests/support/random_tensor/random_tensor.h"
#include "tests/support/random_tiles/random_tiles.h"

namespace systole::tests {
namespace {

using isa::Register;

constexpr std::uint64_t output_address = std::uint64_t{1} << 32;
constexpr std::uint64_t output_bytes = 8192;
constexpr std::uint64_t input_bytes = 4096;
constexpr std::uint64_t resident_address = std::uint64_t{1} << 33;
/// Chains that make the numbers from 0 on.
constexpr std::uint32_t index_chains = 4;

machine::MachineConfig random_core(Choices& choices) {
    machine::MachineConfig machine;
    machine.name = "random";
    machine.family = machine::Family::TensorCore;
    machine.clock_mhz = 500;
    machine.vector_unit.lanes = choices.one_of(std::array{4U, 5U, 8U, 16U});
    machine.vector_unit.sublanes = choices.number<std::uint32_t>(1, 8);
    machine.vector_unit.operations_per_cycle = choices.number<std::uint32_t>(1, 3);
    machine.vector_unit.loads_per_cycle = choices.number<std::uint32_t>(1, 2);
    machine.vector_unit.stores_per_cycle = choices.number<std::uint32_t>(1, 2);
    machine.vector_unit.function_operations = choices.number<std::uint32_t>(1, 20);
    machine.vector_unit.latency_cycles = choices.number<std::uint32_t>(0, 9);
    machine.cross_lane_unit.vectors_per_cycle = choices.number<std::uint32_t>(1, 2);
    machine.cross_lane_unit.latency_cycles = choices.number<std::uint32_t>(0, 30);
    machine::MatrixUnitConfig& array = machine.matrix_unit;
    array.formats = machine::float_array_formats();
    array.cells_per_stage = choices.number<std::uint32_t>(1, 2);
    array.rows = array.cells_per_stage * choices.number<std::uint32_t>(1, 8);
    array.columns = array.cells_per_stage *
                    choices.number<std::uint32_t>(1, machine.vector_unit.lanes / array.cells_per_stage);
    array.mac_latency_cycles = choices.number<std::uint32_t>(1, 3);
    array.setup_cycles = choices.number<std::uint32_t>(0, 3);
    array.weight_switch = choices.number<std::uint32_t>(0, 1);
    machine.interconnect.gb_per_s = choices.number<std::uint32_t>(5, 400) / 10.0;
    machine.interconnect.chunk_bytes = choices.from(1, 300);
    machine.interconnect.latency_cycles = choices.number<std::uint32_t>(0, 20);
    array.arrays = choices.chance(33) ? choices.number<std::uint32_t>(2, 4) : 1;
    machine.vector_memory.rows = choices.number<std::uint32_t>(80, 240);
    machine.hbm.bytes = machine.vector_row_bytes() * choices.from(100, 300);
    machine.hbm.bandwidth_gb_per_s = choices.number<std::uint32_t>(5, 800) / 10.0;
    machine.hbm.efficiency = choices.chance(50) ? 1.0 : choices.number<std::uint32_t>(10, 99) / 100.0;
    machine.hbm.latency_cycles = choices.number<std::uint32_t>(0, 20);
    machine.host_interface.read_gb_per_s = choices.number<std::uint32_t>(5, 200) / 10.0;
    machine.host_interface.write_gb_per_s = choices.number<std::uint32_t>(5, 200) / 10.0;
    machine.host_interface.latency_cycles = choices.number<std::uint32_t>(0, 20);
    machine.sequencer.queue_depth = choices.number<std::uint32_t>(24, 40);
    machine.sequencer.issue_cycles = choices.number<std::uint32_t>(0, 2);
    if (choices.chance(33)) {
        machine.system.chips = choices.number<std::uint32_t>(1, 3);
        machine.system.cores = choices.number<std::uint32_t>(machine.system.chips == 1 ? 2 : 1, 2);
        machine.hbm.bytes *= machine.system.cores;
    }
    return machine;
}

/// A settled float32: mostly of a middling size, sometimes a zero, an infinite one or none.
std::uint32_t random_number(Choices& choices) {
    constexpr std::array special{0U,          0x80000000U, 0x7F800000U, 0xFF800000U, 0x7FC00000U,
                                 0x3F800000U, 0xBF800000U, 0x00800000U, 0x7F7FFFFFU};
    if (choices.chance(6)) return choices.one_of(special);
    const auto exponent = choices.number<std::uint32_t>(choices.chance(90) ? 118 : 60, 134);
    return choices.number<std::uint32_t>(0, 1) << 31U | exponent << 23U |
           choices.number<std::uint32_t>(0, (1U << 23U) - 1);
}

/// What an attempt adds: it is dropped if an instruction breaks a rule.
class TensorDraft {
public:
    explicit TensorDraft(Choices& choices) : choices_(choices) {
        case_.machine = random_core(choices);
        lanes_ = case_.machine.vector_unit.lanes;
        isa::Program& program = case_.program;
        program.geometry = {.rows = case_.machine.matrix_unit.rows,
                            .columns = case_.machine.matrix_unit.columns,
                            .tensor = {.lanes = lanes_}};
        // Cores find their inputs, and room for their outputs, one behind the other.
        const std::uint32_t cores = case_.machine.system.all_cores();
        const std::uint64_t apart = cores == 1 ? 0 : output_bytes + 4 * choices.from(0, 9);
        isa::HostBuffer in{.name = "in",
                           .kind = isa::BufferKind::Constant,
                           .address = 0,
                           .bytes = input_bytes + (cores - 1) * apart};
        for (std::uint64_t word = 0; word < in.bytes / isa::word_bytes; ++word) {
            const std::uint32_t number = random_number(choices);
            for (unsigned byte = 0; byte < isa::word_bytes; ++byte) {
                in.contents.push_back(static_cast<std::uint8_t>(number >> (8 * byte)));
            }
        }
        program.buffers.push_back(std::move(in));
        program.buffers.push_back({.name = "out",
                                   .kind = isa::BufferKind::Output,
                                   .address = output_address,
                                   .bytes = output_bytes + (cores - 1) * apart});
        if (cores > 1) set(Register::HostCoreBytes, static_cast<std::uint32_t>(apart));
        if (choices.chance(50)) {
            isa::InitialRows first{.first_row = choices.from(0, 40)};
            for (std::uint64_t word = choices.from(1, 20ULL * lanes_); word > 0; --word) {
                const std::uint32_t number = random_number(choices);
                for (unsigned byte = 0; byte < isa::word_bytes; ++byte) {
                    first.values.push_back(static_cast<std::uint8_t>(number >> (8 * byte)));
                }
            }
            program.initial[isa::MemoryId::Hbm].push_back(std::move(first));
        }
        for (std::uint64_t i = choices.from(1, 3); i > 0; --i) program.chains.push_back(random_chain());
        first_index_chain_ = program.chains.size();
        for (std::uint32_t index = 0; index < index_chains; ++index) {
            program.chains.push_back({.name = "index" + std::to_string(index),
                                      .steps = {{.operation = WordOperation::Constant, .constant = index}},
                                      .results = {{.value = 0}}});
        }
        program.chains.push_back({.name = "settle",
                                  .sources = {{}},
                                  .steps = {{.operation = WordOperation::Constant, .constant = 0x3F800000},
                                            {.operation = WordOperation::Multiply, .operands = {0, 1}}},
                                  .results = {{.value = 2}}});
    }

    TensorCase take() {
        draw_residents();
        for (int i = 0; i < 2; ++i) infeed();
        for (int i = 0; i < 3; ++i) dma(true);
        for (std::uint64_t left = choices_.from(3, 14); left > 0; --left) {
            if (choices_.chance(20)) add(isa::DebugTag{choices_.number<std::uint16_t>(0, 3)});
            step();
        }
        dma(false);
        outfeed();
        if (choices_.chance(20)) add(isa::InterruptHost{});
        add(isa::Halt{});
        case_.program = ordered(case_.program);
        return std::move(case_);
    }

private:
    /// Tensors that stay in memory, on either side, in any rows.
    void draw_residents() {
        std::uint64_t address = resident_address;
        for (const isa::ResidentSide side : {isa::ResidentSide::Input, isa::ResidentSide::Output}) {
            const bool is_input = side == isa::ResidentSide::Input;
            std::vector<isa::BorderTensor>& borders = is_input ? case_.program.inputs : case_.program.outputs;
            // There is an output that instructions write.
            if (!is_input) borders.push_back({.name = "out"});
            for (std::uint64_t left = choices_.from(0, 2); left > 0; --left) {
                isa::ResidentTensor resident = random_resident(side);
                resident.number = static_cast<std::uint32_t>(borders.size());
                if (resident.end_row(lanes_) > case_.machine.hbm_rows_of_core()) continue;
                const std::uint64_t elements = resident.words() / resident.inferences;
                const std::string name = std::string(isa::resident_side_names.at(is_input ? 0 : 1)) +
                                         std::to_string(borders.size());
                borders.push_back({.name = name, .shape = {static_cast<std::uint32_t>(elements)}});
                const std::uint64_t bytes =
                    case_.machine.cores() * resident.words() * isa::word_bytes + choices_.from(0, 9);
                case_.program.buffers.push_back(
                    {.name = name,
                     .kind = is_input ? isa::BufferKind::Input : isa::BufferKind::Output,
                     .address = address,
                     .bytes = bytes});
                address += bytes + choices_.from(0, 9);
                case_.program.residents.push_back(std::move(resident));
            }
        }
    }

    isa::ResidentTensor random_resident(isa::ResidentSide side) {
        isa::ResidentTensor resident{.side = side,
                                     .inferences = number(1, 3),
                                     .first_row = number(0, 60),
                                     .inference_rows = number(0, 20),
                                     .panel_rows = number(0, 20),
                                     .columns = columns()};
        for (std::uint64_t axes = choices_.from(0, 3); axes > 0; --axes)
            resident.axes.push_back({.extent = number(1, 4), .apart = number(0, 8)});
        return resident;
    }

    void step() {
        if (case_.machine.cores() > 1 && choices_.chance(10)) return collective();
        const std::uint64_t kind = choices_.from(0, 99);
        if (kind < 8) return infeed();
        if (kind < 14) return outfeed();
        if (kind < 26) return dma(true);
        if (kind < 32) return dma(false);
        if (kind < 37) return gather();
        if (kind < 58) return products();
        if (kind < 80) return chain();
        if (kind < 88) return reduce_rows();
        if (kind < 93) return reduce_lanes();
        if (kind < 96) return move_lanes();
        if (kind < 98) return transpose();
        collective();
    }

    void add(isa::Instruction instruction) { case_.program.instructions.push_back(std::move(instruction)); }

    void set(Register reg, std::uint64_t value) {
        if (registers_[reg] == value && choices_.chance(90)) return;
        registers_.set(reg, static_cast<std::uint32_t>(value));
        add(isa::SetConfig{.reg = reg, .value = static_cast<std::uint32_t>(value)});
    }

    std::uint32_t number(std::uint64_t lowest, std::uint64_t highest) {
        return choices_.number<std::uint32_t>(lowest, highest);
    }
    bool chance(unsigned percent) { return choices_.chance(percent); }

    /// Rows from a panel to the next, of panels of so many rows.
    void set_panels(Register reg, std::uint64_t rows) {
        set(reg, chance(70) ? 0 : rows + choices_.from(0, 3));
    }

    std::uint32_t vector_row() { return number(0, case_.machine.vector_memory.rows - 1); }
    std::uint32_t hbm_row() { return number(0, case_.machine.hbm_rows_of_core() - 1); }
    std::uint32_t columns() { return number(1, chance(70) ? lanes_ : 3ULL * lanes_); }
    std::uint32_t rows() { return number(1, chance(80) ? 12 : 40); }

    /// The footprint, if the instruction keeps all rules.
    std::optional<isa::Footprint> checked(const isa::Instruction& instruction) const {
        try {
            isa::Footprint touched = isa::footprint(instruction, registers_, case_.program);
            for (const isa::MemoryRows& each : touched) {
                if (each.memory == isa::MemoryId::VectorMemory &&
                    each.rows.last > case_.machine.vector_memory.rows) {
                    return std::nullopt;
                }
                if (each.memory == isa::MemoryId::Hbm && each.rows.last > case_.machine.hbm_rows_of_core()) {
                    return std::nullopt;
                }
            }
            return touched;
        } catch (const isa::ProgramError&) {
            return std::nullopt;
        }
    }
    bool add_checked(const isa::Instruction& instruction) {
        if (!checked(instruction)) return false;
        add(instruction);
        return true;
    }

    /// Drops the instructions from there on.
    void take_back(std::size_t begin, const isa::Registers& before) {
        case_.program.instructions.resize(begin, isa::Nop{});
        registers_ = before;
    }

    /// Draws until an instruction keeps all rules. Each attempt may set registers.
    template <class Attempt>
    void attempt(Attempt attempt) {
        for (int left = 30; left > 0; --left) {
            const std::size_t begin = case_.program.instructions.size();
            const isa::Registers before = registers_;
            if (attempt()) return;
            take_back(begin, before);
        }
    }

    void infeed() {
        attempt([&] {
            isa::Infeed infeed{
                .host_address = 4ULL * choices_.from(0, 100),
                .hbm_row = hbm_row(),
                .rows = rows(),
                .columns = columns(),
            };
            infeed.packed = infeed.columns % 3 == 0;
            set_panels(Register::ResultPanelRows, infeed.rows);
            return 4ULL * infeed.rows * infeed.columns + infeed.host_address <= input_bytes &&
                   add_checked(infeed);
        });
    }

    void outfeed() {
        attempt([&] {
            const isa::Outfeed outfeed{.host_address = output_address + 4ULL * choices_.from(0, 100),
                                       .hbm_row = hbm_row(),
                                       .rows = rows(),
                                       .columns = columns()};
            set_panels(Register::SourcePanelRows, outfeed.rows);
            return 4ULL * outfeed.rows * outfeed.columns + outfeed.host_address <=
                       output_address + output_bytes &&
                   add_checked(outfeed);
        });
    }

    void dma(bool in) {
        attempt([&] {
            const std::uint32_t block = rows();
            const std::uint32_t blocks = chance(60) ? 1 : number(1, 6);
            set_panels(Register::DmaHbmRows, block);
            set_panels(Register::DmaMemoryRows, block);
            if (in) {
                return add_checked(
                    isa::DmaIn{.hbm_row = hbm_row(), .row = vector_row(), .rows = block, .blocks = blocks});
            }
            return add_checked(
                isa::DmaOut{.hbm_row = hbm_row(), .row = vector_row(), .rows = block, .blocks = blocks});
        });
    }

    /// Rows of a table by indices of two kinds, which chains make, and which go out to where they are read.
    void gather() {
        attempt([&] {
            const isa::GatherRows gather{.hbm_row = hbm_row(),
                                         .table_rows = number(index_chains, 3 * index_chains),
                                         .indices = hbm_row(),
                                         .row = vector_row(),
                                         .rows = choices_.number<std::uint16_t>(1, lanes_),
                                         .blocks = chance(60) ? 1 : number(2, 4)};
            const std::uint32_t made = vector_row();
            set(Register::WalkColumns, 0);
            for (const std::uint32_t lanes : {lanes_, number(1, lanes_)}) {
                const std::uint64_t index = first_index_chain_ + choices_.from(0, index_chains - 1);
                const isa::RunChain fill{.chain = static_cast<std::uint16_t>(index),
                                         .rows = 1,
                                         .columns = lanes,
                                         .results = {made, 0}};
                if (!add_checked(fill)) return false;
            }
            set_panels(Register::DmaHbmRows, gather.table_rows);
            set_panels(Register::DmaMemoryRows, gather.rows);
            return add_checked(isa::DmaOut{.hbm_row = gather.indices, .row = made, .rows = 1, .blocks = 1}) &&
                   add_checked(gather);
        });
    }

    struct DrawnLoad {
        isa::LoadWeights load;
        isa::RowRange read;
    };

    std::optional<DrawnLoad> load() {
        std::optional<DrawnLoad> drawn;
        attempt([&] {
            isa::LoadWeights load{
                .source = vector_row(),
                .depth = choices_.number<std::uint16_t>(1, case_.machine.matrix_unit.rows),
                .columns = choices_.number<std::uint16_t>(1, case_.machine.matrix_unit.columns),
                .part = choices_.number<std::uint8_t>(0, chance(70) ? 0 : 2),
                .transposed = chance(30),
                .packed = chance(30)};
            if (load.packed) load.part = 0;
            set_panels(Register::WeightsPanelRows, load.transposed ? load.columns : load.depth);
            const auto touched = checked(load);
            if (!touched) return false;
            add(load);
            drawn = {.load = load, .read = touched->read_rows(isa::MemoryId::VectorMemory)};
            return true;
        });
        return drawn;
    }

    void set_window() {
        set(Register::WindowInputHeight, number(1, 5));
        set(Register::WindowInputWidth, number(1, 6));
        set(Register::WindowChannels, number(1, chance(70) ? 4 : 2ULL * lanes_));
        set(Register::WindowImageRows,
            registers_[Register::WindowInputHeight] * std::uint64_t{registers_[Register::WindowInputWidth]} +
                (chance(70) ? 0 : number(1, 3)));
        set(Register::WindowKernelHeight, number(1, 3));
        set(Register::WindowKernelWidth, number(1, 3));
        set(Register::WindowStrideY, number(1, 3));
        set(Register::WindowStrideX, number(1, 3));
        set(Register::WindowPadTop, number(0, 2));
        set(Register::WindowPadLeft, number(0, 2));
        set(Register::WindowOutputHeight, number(1, 4));
        set(Register::WindowOutputWidth, number(1, 5));
        set(Register::WindowDilationY, number(1, 2));
        set(Register::WindowDilationX, number(1, 2));
    }

    /// Sums are added to float32 that must be settled; rows may have any words.
    bool settle(const isa::Product& product) {
        set(Register::WalkColumns, 0);
        const std::uint32_t panel_rows = registers_[Register::SourcePanelRows];
        set(Register::SourcePanelRows, 0);
        const bool is_added = add_checked(isa::RunChain{.chain = settling_chain(),
                                                        .rows = product.rows,
                                                        .columns = product.columns,
                                                        .results = {product.result},
                                                        .sources = {product.result}});
        set(Register::SourcePanelRows, panel_rows);
        return is_added;
    }

    /// A product with these weights; `apart` are rows that it may not write.
    bool product(const isa::LoadWeights& weights, bool keep, const isa::RowRange& apart) {
        bool done = false;
        // Its sums are settled: others may be added to them while they are on their way.
        const auto* const before = case_.program.instructions.empty()
                                       ? nullptr
                                       : std::get_if<isa::Product>(&case_.program.instructions.back());
        const std::optional<isa::Product> last = before == nullptr ? std::nullopt : std::optional(*before);
        attempt([&] {
            isa::Product product{.result = vector_row(),
                                 .source = vector_row(),
                                 .rows = rows(),
                                 .depth = weights.depth,
                                 .columns = weights.columns,
                                 .part = choices_.number<std::uint8_t>(0, chance(70) ? 0 : 2),
                                 .accumulate = chance(40),
                                 .keep_weights = keep,
                                 .windows = chance(40),
                                 .packed = chance(30)};
            const bool adds = last && last->columns >= product.columns && chance(50);
            if (adds) {
                product.result = last->result;
                product.rows = number(1, last->rows);
                product.accumulate = true;
            }
            if (product.packed) product.part = 0;
            if (product.windows) set_window();
            set(Register::ProductFirst, chance(60) ? 0 : number(0, 2ULL * lanes_));
            set_panels(Register::SourcePanelRows, product.windows ? 40 : product.rows);
            set(Register::ResultPanelRows, 0);
            const auto touched = checked(product);
            if (!touched || touched->written_rows(isa::MemoryId::VectorMemory).overlaps(apart)) return false;
            if (product.accumulate && !adds && !settle(product)) return false;
            add(product);
            done = true;
            return true;
        });
        return done;
    }

    /// One or two matrices of weights, and products with them. The second one is loaded before the products
    /// of the first, which may not write rows that it reads: they would wait for it, and it for the array.
    void products() {
        const std::size_t begin = case_.program.instructions.size();
        const isa::Registers before = registers_;
        const auto first = load();
        if (!first) return;
        const std::optional<DrawnLoad> second = chance(50) ? load() : std::nullopt;
        bool all = product(first->load, false, second ? second->read : isa::RowRange{});
        while (all && chance(30)) all = product(first->load, true, second ? second->read : isa::RowRange{});
        if (all && second) all = product(second->load, false, {});
        if (all) return;
        // Without its product, a load would wait for ever.
        take_back(begin, before);
    }

    isa::Chain random_chain() {
        isa::Chain chain{.name = "chain" + std::to_string(case_.program.chains.size())};
        for (std::uint64_t i = choices_.from(0, 4); i > 0; --i) {
            const auto spread = chance(60)   ? isa::Spread::Rows
                                : chance(35) ? isa::Spread::Row
                                : chance(50) ? isa::Spread::Column
                                             : isa::Spread::Result;
            chain.sources.push_back({.spread = spread, .packed = spread == isa::Spread::Rows && chance(25)});
        }
        for (std::uint64_t i = choices_.from(chain.sources.empty() ? 1 : 0, 6); i > 0; --i) {
            isa::ChainStep step;
            do {
                step.operation = static_cast<WordOperation>(choices_.from(0, word_operation_count - 1));
            } while (chain.values() == 0 && traits_of(step.operation).operands > 0);
            for (unsigned operand = 0; operand < traits_of(step.operation).operands; ++operand) {
                step.operands.push_back(choices_.number<std::uint8_t>(0, chain.values() - 1));
            }
            if (step.operation == WordOperation::Constant) step.constant = random_number(choices_);
            chain.steps.push_back(std::move(step));
        }
        for (std::uint64_t i = choices_.from(1, 2); i > 0; --i) {
            chain.results.push_back(
                {.value = choices_.number<std::uint8_t>(0, chain.values() - 1), .packed = chance(25)});
        }
        return chain;
    }

    std::uint16_t settling_chain() const {
        return static_cast<std::uint16_t>(first_index_chain_ + index_chains);
    }

    void set_walk() {
        set(Register::WalkColumns, chance(50) ? 0 : number(1, 5));
        set(Register::WalkLines, number(1, 3));
        for (const auto& [image, line, column] :
             {std::array{Register::FromImageRows, Register::FromLineRows, Register::FromColumnRows},
              std::array{Register::ToImageRows, Register::ToLineRows, Register::ToColumnRows}}) {
            set(column, number(1, 2));
            set(line, number(4, 10));
            set(image, number(20, 34));
        }
    }

    void chain() {
        attempt([&] {
            // One of the random chains, or the one that settles.
            auto index = choices_.number<std::uint16_t>(0, first_index_chain_);
            if (index == first_index_chain_) index = settling_chain();
            const isa::Chain& chain = case_.program.chains[index];
            isa::RunChain run{.chain = index, .rows = rows(), .columns = columns()};
            for (std::size_t i = 0; i < chain.sources.size(); ++i) run.sources.at(i) = vector_row();
            for (std::size_t i = 0; i < chain.results.size(); ++i) run.results.at(i) = vector_row();
            set_walk();
            set_panels(Register::SourcePanelRows, run.rows);
            set_panels(Register::OtherPanelRows, run.rows);
            set_panels(Register::ResultPanelRows, run.rows);
            if (!chain.sources.empty() && chance(40)) {  // in its place
                run.results[0] = run.sources[0];
                for (const auto& [to, from] :
                     {std::pair{Register::ToImageRows, Register::FromImageRows},
                      std::pair{Register::ToLineRows, Register::FromLineRows},
                      std::pair{Register::ToColumnRows, Register::FromColumnRows},
                      std::pair{Register::ResultPanelRows, Register::SourcePanelRows}}) {
                    set(to, registers_[from]);
                }
            }
            return add_checked(run);
        });
    }

    void reduce_rows() {
        attempt([&] {
            const isa::ReduceRows reduce{
                .reduction = static_cast<Reduction>(choices_.from(0, reduction_count - 1)),
                .accumulate = chance(40),
                .result = vector_row(),
                .source = vector_row(),
                .rows = rows(),
                .columns = columns()};
            set_panels(Register::SourcePanelRows, reduce.rows);
            set_panels(Register::ResultPanelRows, 1);
            return add_checked(reduce);
        });
    }

    void reduce_lanes() {
        attempt([&] {
            const isa::ReduceLanes reduce{
                .reduction = static_cast<Reduction>(choices_.from(0, reduction_count - 1)),
                .result = vector_row(),
                .source = vector_row(),
                .rows = rows(),
                .columns = columns()};
            set_panels(Register::SourcePanelRows, reduce.rows);
            return add_checked(reduce);
        });
    }

    void transpose() {
        attempt([&] {
            return add_checked(isa::Transpose{.result = vector_row(),
                                              .source = vector_row(),
                                              .rows = choices_.number<std::uint16_t>(1, lanes_),
                                              .columns = choices_.number<std::uint16_t>(1, lanes_)});
        });
    }

    void move_lanes() {
        attempt([&] {
            const isa::MoveLanes move{.result = vector_row(),
                                      .source = vector_row(),
                                      .rows = rows(),
                                      .columns = columns(),
                                      .first = number(0, 2ULL * lanes_),
                                      .to = number(0, 2ULL * lanes_)};
            set_panels(Register::SourcePanelRows, move.rows);
            set_panels(Register::ResultPanelRows, move.rows);
            return add_checked(move);
        });
    }

    void collective() {
        attempt([&] {
            isa::Collective collective{.kind = static_cast<isa::CollectiveKind>(choices_.from(0, 3)),
                                       .cores = static_cast<std::uint8_t>(case_.machine.cores()),
                                       .result = vector_row(),
                                       .source = vector_row(),
                                       .rows = number(1, 12)};
            const bool is_in_place = collective.rows_read() == collective.rows_written() && chance(30);
            if (is_in_place) collective.result = collective.source;
            return add_checked(collective);
        });
    }

    Choices& choices_;
    TensorCase case_;
    std::uint32_t lanes_ = 0;
    std::size_t first_index_chain_ = 0;
    isa::Registers registers_;
};

}  // namespace

TensorCase random_tensor(Choices& choices) {
    return TensorDraft(choices).take();
}

}  // namespace systole::tests
