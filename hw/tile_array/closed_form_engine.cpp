#include <cstdint>
#include <memory>
#include <stdexcept>

#include "hw/common/clock.h"
#include "hw/isa/tile_layout.h"
#include "hw/tile_array/compute.h"
#include "hw/tile_array/engine.h"

namespace systole::hw {
namespace {

/// Takes the cycles of hw/timing and computes whole instructions.
class ClosedFormEngine final : public TileEngine {
public:
    explicit ClosedFormEngine(const TileEngineContext& context)
        : context_(context.context),
          queue_(context.queue),
          narrow_(context.narrow),
          wide_(context.wide),
          counters_(context.counters) {}

    void begin(const Product& product, const std::uint8_t* parameters) override {
        count(product);
        if (parameters == nullptr) return;
        compute(product.number, [this, product, parameters](ValueWorkers::Scratch& scratch) {
            if (product.instruction.product == isa::TileProduct::Depthwise) {
                compute_depthwise(product, parameters, narrow_, scratch);
            } else {
                compute_convolution(product, parameters, narrow_, scratch);
            }
        });
    }

    void part(const Product& product, const ProductPart& part) override {
        const std::uint64_t first = part.weights.first_row;
        wait(product.instruction.product == isa::TileProduct::Depthwise
                 ? product.cost.depthwise_cycles(part.macs_before, depthwise_macs_of(product, part))
                 : product.cost.convolution_cycles(part.repeat, first, first + part.weights.rows));
    }

    void end(const Product& /*product*/) override {}

    void dense(const Product& product) override {
        count(product);
        if (context_.computes_values()) {
            compute(product.number, [this, product](ValueWorkers::Scratch& scratch) {
                compute_dense(product, narrow_, wide_, scratch);
            });
        }
        wait(product.cost.dense_cycles());
    }

    void vector(const VectorWork& work) override {
        if (context_.computes_values()) {
            compute(work.number,
                    [this, work](ValueWorkers::Scratch&) { compute_vector(work, narrow_, wide_); });
        }
        const Cycle cycles = timing::vector_cycles(work.instruction, *work.registers, context_.machine);
        counters_.work.vector_cycles.add(cycles, work.tag);
        counters_.work.results.add(isa::pixels_in_image(work.result, work.area) * work.result.channels,
                                   work.tag);
        wait(cycles);
    }

private:
    template <class Job>
    void compute(InstructionNumber number, Job&& job) {
        // Jobs of the tiles run in their order: they write whole tensors.
        auto held = std::make_shared<std::decay_t<Job>>(std::forward<Job>(job));
        context_.workers.compute(queue_, number, ValueWorkers::all_rows,
                                 [held](ValueWorkers::Scratch& scratch) { (*held)(scratch); });
    }

    void wait(Cycle cycles) { context_.clock.wait_until(context_.clock.now() + cycles); }

    void count(const Product& product) {
        const isa::WeightBlocks& blocks = product.cost.blocks;
        for (std::uint64_t tile = 0; tile < product.grid.tiles(); ++tile) {
            std::uint64_t macs = 0;
            if (product.is_dense()) {
                for (std::uint64_t group = tile; group < blocks.groups; group += product.grid.tiles()) {
                    macs += blocks.outputs_of(group, product.grid) * blocks.weights;
                }
            } else {
                macs = isa::pixels_in_image(product.result, product.area, tile) * blocks.outputs *
                       blocks.weights;
            }
            counters_.each[tile].add(macs, product.tag);
        }
        const Cycle cycles = product.cost.cycles();
        const std::uint64_t useful = product.cost.useful_macs();
        counters_.work.multiply_cycles.add(cycles, product.tag);
        counters_.work.useful_macs.add(useful, product.tag);
        counters_.work.unused_macs.add(cycles * macs_a_cycle(product.grid) - useful, product.tag);
        counters_.work.results.add(product.cost.all_pixels * blocks.outputs, product.tag);
    }

    const UnitContext& context_;
    const std::size_t queue_;
    NarrowMemoryAccess& narrow_;
    WideMemoryAccess& wide_;
    TileCounters& counters_;
};

}  // namespace

std::unique_ptr<TileEngine> make_closed_form_engine(const TileEngineContext& context) {
    return std::make_unique<ClosedFormEngine>(context);
}

}  // namespace systole::hw
