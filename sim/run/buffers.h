#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/data_type.h"
#include "hw/isa/memory.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "sim/run/record/record.h"

/// Views of the program's host buffers and of the chip's memories for users.
namespace systole::run {

/// A part of a memory that was requested as "PLACE", "PLACE:TYPE", or "PLACE:TYPExCOLUMNS". A place is the
/// name of a host buffer, or rows of the chip: "ub:ROW+ROWS" or "acc:ROW+ROWS", of a machine with a tensor
/// core "vmem:ROW+ROWS" or "hbm:ROW+ROWS"; "ub:ROW" for one row. On a machine with tiles, "tile3:BYTE+BYTES"
/// are bytes of a tile's narrow memory.
struct BufferView {
    isa::MemoryId memory = isa::MemoryId::HostMemory;  ///< or one of the chip whose rows or bytes are shown
    const isa::HostBuffer* buffer = nullptr;           ///< of the program; null for rows of the chip
    std::string place = {};                            ///< as it was requested
    std::uint64_t first_row = 0;                       ///< of rows of the chip; of tiles, the first byte
    std::uint64_t rows = 0;
    std::size_t tile = 0;             ///< of narrow memory
    DataType type = DataType::Uint8;  ///< uint8, int8, int16, int32 or float32; of accumulators, int32
    std::uint64_t columns = 0;        ///< elements of a printed line; 0: as many as fit
};

/// The view that a text requests; without a type in the text it is uint8, for accumulators int32, and for
/// memories of words float32. Throws
/// ProgramError, which names the text, if there are no such buffer, rows or type, or if the part is not a
/// whole number of elements.
BufferView find_view(const isa::Program& program, const machine::MachineConfig& machine,
                     std::string_view text);

/// The values of a view's bytes.
BufferContents read_contents(const BufferView& view, std::span<const std::uint8_t> bytes);

}  // namespace systole::run
