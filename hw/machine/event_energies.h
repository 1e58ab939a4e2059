#pragma once

#include "hw/machine/machine_config.h"

namespace systole::machine {

/// The energy of one event of a machine, in pJ, before calibration.
///
/// An on-chip memory is read and written one whole row at a time. The model divides it into slices, one for
/// each 64 bits of the row; each slice is an SRAM of its share of the memory's bytes: 32 slices of 768 KiB
/// for the unified buffer of TPU v1, 128 of 32 KiB for its accumulators, 32 of 8 KiB for its weight FIFO. No
/// published table has registers and the clock: the idle watts include their idle power, and calibration
/// covers the rest.
struct EventEnergies {
    double mac = 0.0;               ///< one multiplication and addition of a cell, in one pass
    double unused_mac = 0.0;        ///< an unused cell in an active cycle
    double buffer_row = 0.0;        ///< a row of the unified buffer read or written
    double sums_row = 0.0;          ///< a row of accumulators read or written
    double sums_add = 0.0;          ///< the additions of a row
    double fifo_byte = 0.0;         ///< into the weight FIFO or out of it
    double weight_byte = 0.0;       ///< from weight memory, link included; off the chip
    double host_byte = 0.0;         ///< over the chip's end of the host link
    double instruction_byte = 0.0;  ///< into the instruction buffer and out of it
    double requantized = 0.0;  ///< a sum's bias, multiplier and zero point: one multiplication, two additions
    double lookup = 0.0;       ///< a byte of the table: of the smallest published memory
    double operand = 0.0;      ///< an operand of element-wise work: a multiplication, an addition
    double pooled = 0.0;       ///< an element of a window: an addition or comparison
};

/// The energies of a machine, which must have a section `energy`.
EventEnergies event_energies(const MachineConfig& machine);

/// The same of a tensor core. Vector memory is divided as above: 64 slices of 256 KiB in a core of the Cloud
/// TPU v2. What moves words between lanes, and registers and the clock beyond idle power, have no published
/// energy.
struct TensorEventEnergies {
    double mac = 0.0;                 ///< a bfloat16 multiplication and a float32 addition of a cell
    double vector_operation = 0.0;    ///< on all words of a vector: half additions, half multiplications
    double vector_memory_byte = 0.0;  ///< read or written
    double hbm_byte = 0.0;            ///< read or written, link included; off the chip
    double host_byte = 0.0;           ///< over the chip's end of the host link
    double instruction_byte = 0.0;    ///< into the instruction buffer and out of it
};

/// The energies of a machine, which must have a section `tensor_energy`.
TensorEventEnergies tensor_event_energies(const MachineConfig& machine);

}  // namespace systole::machine
