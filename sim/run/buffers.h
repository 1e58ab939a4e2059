#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "hw/base/data_type.h"
#include "hw/isa/program.h"
#include "sim/run/record/record.h"

/// Views of the program's host buffers for users.
namespace systole::run {

/// A buffer that was requested as "NAME", "NAME:TYPE", or "NAME:TYPExCOLUMNS".
struct BufferView {
    const isa::HostBuffer* buffer = nullptr;  ///< of the program
    DataType type = DataType::Uint8;          ///< uint8, int8, int16 or int32
    std::uint64_t columns = 0;                ///< elements of a printed line; 0: as many as fit
};

/// The view that a text requests; its type is uint8 if the text names none. Throws ProgramError, which names
/// the text, if there is no such buffer or type, or if the buffer is not a whole number of elements.
BufferView find_view(const isa::Program& program, std::string_view text);

/// The values of a view's bytes.
BufferContents read_contents(const BufferView& view, std::span<const std::uint8_t> bytes);

}  // namespace systole::run
