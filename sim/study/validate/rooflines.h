#pragma once

#include <string>

#include "sim/study/validate/formulas.h"
#include "sim/study/validate/setup.h"
#include "sim/study/validate/target.h"

/// Rooflines by hand (null_models/), which stand beside ours: from published numbers of the chip and the
/// shapes of the layers. No run, no machine file and no compiler has a part in them.
namespace systole::validate {

/// The sums of the shapes' networks, by model: shapes.macs, .weights (bytes), .layers, .input_bytes and
/// .output_bytes.
void know_shapes(const Setup& setup, Formulas& formulas);

/// The numbers of each of the target's rooflines: of the chip NAME.clock_hz and NAME.array; by model, in
/// cycles, NAME.total, .active, .useful, .stall, .shift and .transfer, and NAME.macs, .tiles and .layers.
/// Throws ConfigError.
void know_rooflines(const Setup& setup, Formulas& formulas);

/// The constant with the least mean absolute error, as a named formula.
void define_constant(const std::string& name, const BestConstant& constant, Formulas& formulas);

}  // namespace systole::validate
