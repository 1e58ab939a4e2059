#pragma once

#include <initializer_list>

#include "hw/machine/unit_description.h"

/// How units estimate their area. The model has one anchor, the published floorplan of TPU v1: a die below
/// 331 mm² in 28 nm (Jouppi et al., ISCA 2017, Table 2), and the shares of its units (Figure 2). A unit
/// scales its share by its size; docs/area.md explains each rule and its source.
namespace systole::machine::floorplan {

inline constexpr double die_mm2 = 331.0;
inline constexpr double process_nm = 28.0;
inline constexpr double sram_cell_um2 = 0.127;  ///< published cells of 28 nm

inline constexpr double unified_buffer_percent = 29.0;
inline constexpr double unified_buffer_bytes = 24.0 * 1024.0 * 1024.0;

/// From the least to the largest of several ways to scale.
Estimate between(double nominal, std::initializer_list<double> others = {});

/// A memory of so many times the anchor's bytes: in proportion; or only its cells, while what surrounds them
/// grows with the side.
Estimate memory_of_size(double percent, double ratio);

}  // namespace systole::machine::floorplan
