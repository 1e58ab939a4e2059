#include "hw/matrix_unit/engine.h"

#include <stdexcept>

#include "hw/matrix_unit/wavefront_engine.h"

namespace systole::hw {

std::unique_ptr<MatrixEngine> make_engine(const machine::MatrixUnitConfig& config) {
    switch (config.engine) {
        case machine::Engine::Wavefront:
            return std::make_unique<WavefrontEngine>();
    }
    throw std::logic_error("a matrix engine without a class");
}

}  // namespace systole::hw
