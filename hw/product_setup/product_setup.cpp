#include "hw/product_setup/product_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <variant>

#include "base/arithmetic.h"
#include "hw/common/order_checker.h"
#include "hw/isa/panels.h"
#include "hw/product_setup/rows.h"

namespace systole::hw {

ProductSetup::ProductSetup(const sc_core::sc_module_name& name, const UnitContext& context,
                           WordMemoryAccess& vector_memory, StreamSink& array)
    : QueuedUnit(name, isa::QueueId::Matrix,
                 {.track = "matrix unit",
                  .signals = "product_setup.",
                  .is_main = true,
                  .computes = true,
                  .tells_idle = true},
                 context),
      shape_(timing::tensor_shape_of(context.machine)),
      vector_memory_(vector_memory),
      array_(array) {
    register_counters(counters());
    register_details(std::string(basename()) + ".lines", line_counters_);
    start("product_setup", [this](const Command& command) { execute(command); });
}

void ProductSetup::execute(const Command& command) {
    const auto& product = std::get<isa::Product>(command.bound.instruction);
    const isa::Footprint& footprint = command.bound.footprint;
    cost_ = timing::streamed_product(product, *command.bound.registers, context_.machine);
    // Sums are added to those of earlier products in the order of the rows: no need to wait for these.
    const Cycle now = context_.clock.now();
    const Cycle written = own_writes_.complete(footprint.read_rows(isa::MemoryId::VectorMemory), now);
    MatrixNeeds needs = command.needs;
    if (written > now) needs.own_writes = written;
    context_.clock.wait_until(written);
    waited(counters_.drain_cycles);
    if (context_.computes_values()) order_jobs(footprint);
    const Cycle complete = array_.enter({.number = command.number,
                                         .tag = command.tag,
                                         .issued = command.issued,
                                         .lines = cost_.shape.lines,
                                         .line_rows = cost_.shape.line_rows,
                                         .passes = cost_.shape.passes,
                                         .line_cycles = cost_.shape.line_cycles,
                                         .arrays = cost_.shape.arrays,
                                         .accumulator_row = product.result,
                                         .accumulate = product.accumulate,
                                         .keep_weights = product.keep_weights,
                                         .activations = DataType::Bfloat16,
                                         .weights = DataType::Bfloat16,
                                         .needs = needs,
                                         .source = this});
    waited(counters_.array_cycles);
    counters_.spend(counters_.busy_cycles, context_.clock.now() + cost_.shape.span(), command.tag);
    own_writes_.add(footprint, complete);
    queue().complete(complete);
}

void ProductSetup::order_jobs(const isa::Footprint& footprint) {
    constexpr std::size_t most_unordered = 64;
    const auto conflicts = [&](const isa::Footprint& earlier) {
        return std::any_of(earlier.begin(), earlier.end(), [&](const isa::MemoryRows& a) {
            return std::any_of(footprint.begin(), footprint.end(), [&](const isa::MemoryRows& b) {
                return a.access != b.access && a.rows.overlaps(b.rows);
            });
        });
    };
    if (unordered_.size() == most_unordered || std::ranges::any_of(unordered_, conflicts)) {
        const std::size_t products = context_.queue(isa::QueueId::Matrix);
        context_.workers.follow(products, products);
        unordered_.clear();
    }
    unordered_.push_back(footprint);
}

StreamRows ProductSetup::enter(std::uint32_t elements) {
    begin();
    const Command& command = executing();
    const auto& product = std::get<isa::Product>(command.bound.instruction);
    if (elements != product.depth) {
        throw InstructionError(command.number, fmt::format("the weights that it meets have a depth of {}; it "
                                                           "must have their depth",
                                                           elements));
    }
    const std::uint64_t bytes = cost_.fetched_rows * shape_.lanes * isa::word_bytes;
    counters_.rows.add(product.rows, command.tag);
    counters_.fetches.add(cost_.fetched_rows, command.tag);
    line_counters_.fetch_cycles.add(
        divide_up(cost_.fetched_rows, std::uint64_t{context_.machine.vector_unit.sublanes}), command.tag);
    vector_memory_.touch(command.bound.footprint);
    vector_memory_.count_reads(bytes, command.tag);
    return context_.computes_values() ? rows_of(product, *command.bound.registers) : StreamRows{};
}

StreamRows ProductSetup::rows_of(const isa::Product& product, const isa::Registers& registers) const {
    const auto shared = std::make_shared<ProductRows>();
    ProductRows& rows = *shared;
    rows.memory = vector_memory_.from_row(0);
    rows.lanes = shape_.lanes;
    rows.first = registers[isa::Register::ProductFirst];
    rows.rows = product.rows;
    rows.depth = product.depth;
    rows.part = product.part;
    const std::uint64_t elements = rows.first + rows.depth;
    if (product.windows) {
        rows.windows = isa::pixel_windows(registers);
        rows.panels =
            isa::pixel_panels(registers, shape_, product.source, product.rows, elements, product.packed);
    } else {
        rows.panels = isa::panels_of(registers, shape_, product.source, {product.rows, elements},
                                     isa::Register::SourcePanelRows, product.packed);
    }
    return [shared](std::vector<std::uint8_t>& memory) {
        if (memory.size() < shared->bytes()) memory.resize(shared->bytes());
        shared->write(reinterpret_cast<float*>(memory.data()));
        return RowBlock{memory.data(), shared->depth * sizeof(float)};
    };
}

}  // namespace systole::hw
