#include "hw/matrix_unit/engine.h"

#include <stdexcept>

#include "hw/matrix_unit/pe_engine.h"
#include "hw/matrix_unit/wavefront_engine.h"

namespace systole::hw {

void MatrixEngine::wait_for_tile() {
    while (!shadow_full_) clock_.wait(shadow_filled_);
}

void MatrixEngine::fill_shadow(const Tile& tile) {
    shadow_ = tile;
    shadow_full_ = true;
    shadow_filled_.notify(sc_core::SC_ZERO_TIME);
}

void MatrixEngine::switch_planes() {
    active_ = shadow_;
    shadow_full_ = false;
    shadow_free_at_ = clock_.now() + weight_switch_;
    shadow_freed_.notify(sc_core::SC_ZERO_TIME);
}

std::unique_ptr<MatrixEngine> make_engine(const UnitContext& context, TileSource& weights,
                                          RegisterSink* registers) {
    switch (context.machine.matrix_unit.engine) {
        case machine::Engine::Wavefront:
            return std::make_unique<WavefrontEngine>("array", context, weights);
        case machine::Engine::Pe:
            if (!context.machine.matrix_unit.computes_floats()) {
                return std::make_unique<PeEngine<IntegerCells>>("array", context, weights, registers);
            }
            if (registers != nullptr) throw std::logic_error("registers of floats are not reported");
            return std::make_unique<PeEngine<FloatCells>>("array", context, weights, nullptr);
    }
    throw std::logic_error("a matrix engine without a class");
}

}  // namespace systole::hw
