#pragma once

#include <initializer_list>

#include "hw/machine/unit_description.h"

/// How units estimate their area. Each family has one anchor, a published die, of which a unit takes a share
/// that it scales by its size; docs/area.md explains each rule and its source. That of TPU v1 is below 331
/// mm² in 28 nm (Jouppi et al., ISCA 2017, Table 2), with the shares of its units (Figure 2).
namespace systole::machine::floorplan {

inline constexpr double die_mm2 = 331.0;
inline constexpr double process_nm = 28.0;
inline constexpr double sram_cell_um2 = 0.127;  ///< published cells of 28 nm

/// The die of TPU v1, with 1 % of pads besides those of links and memories, and 21 % that are not named.
DieAnchor tpu_v1_die();

/// Half of the die of a Cloud TPU v2, for each of its two cores: less than 625 mm² in 16 nm, 8 % of it matrix
/// units, 13 % links between chips (Jouppi et al., ISCA 2021, in secondary notes).
DieAnchor tensor_core_die();
inline constexpr double tensor_array_percent = 8.0;  ///< 128 x 128 cells
inline constexpr double tensor_memory_bytes = 16.0 * 1024.0 * 1024.0;
/// Not published: as dense as the unified buffer of TPU v1, shrunk as SRAM cells to 16 nm.
double tensor_memory_percent();

inline constexpr double unified_buffer_percent = 29.0;
inline constexpr double unified_buffer_bytes = 24.0 * 1024.0 * 1024.0;

/// From the least to the largest of several ways to scale.
Estimate between(double nominal, std::initializer_list<double> others = {});

/// A memory of so many times the anchor's bytes: in proportion; or only its cells, while what surrounds them
/// grows with the side.
Estimate memory_of_size(double percent, double ratio);

}  // namespace systole::machine::floorplan
