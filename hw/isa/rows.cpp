#include "hw/isa/rows.h"

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/limits.h"
#include "hw/isa/program_error.h"

namespace systole::isa {

RowRange checked_rows(std::string_view memory, std::uint64_t first, std::uint64_t count,
                      std::uint64_t limit) {
    const std::uint64_t last = saturating_sum(first, count);
    if (last > limit) {
        throw ProgramError(fmt::format("{} rows from {} on end before row {}; addresses end at row {}",
                                       memory, first, last, limit - 1));
    }
    return {.first = first, .last = last};
}

std::uint64_t at_least_one(const Registers& registers, Register reg) {
    if (registers[reg] == 0) throw ProgramError(fmt::format("{} is 0; it must be at least 1", name(reg)));
    return registers[reg];
}

RowRange buffer_rows(std::uint64_t first, std::uint64_t count) {
    return checked_rows("unified-buffer", first, count, buffer_row_limit);
}

RowRange accumulator_rows(std::uint64_t first, std::uint64_t count) {
    return checked_rows("accumulator", first, count, accumulator_row_limit);
}

RowRange wide_units(std::uint64_t first, std::uint64_t count) {
    const std::uint64_t last = saturating_sum(first, count);
    if (last > wide_unit_limit) {
        throw ProgramError(fmt::format("{} units of wide memory from {} on; addresses end at unit {}", count,
                                       first, wide_unit_limit - 1));
    }
    return {.first = first, .last = last};
}

std::uint64_t host_block_stride(const Registers& registers, std::uint64_t block_bytes) {
    const std::uint64_t stride = registers[Register::HostBlockStride];
    return stride == 0 ? block_bytes : stride;
}

std::uint64_t host_block_rows(const Registers& registers, std::uint64_t block_bytes,
                              std::uint64_t row_bytes) {
    const std::uint64_t filled = divide_up(block_bytes, row_bytes);
    const std::uint64_t rows = registers[Register::HostBlockRows];
    if (rows == 0) return filled;
    if (rows < filled) {
        throw ProgramError(fmt::format("{} is {}; a block of {} bytes fills {} rows",
                                       name(Register::HostBlockRows), rows, block_bytes, filled));
    }
    return rows;
}

RowRange host_rows(const Registers& registers, std::uint64_t first_row, std::uint64_t block_bytes,
                   std::uint64_t blocks, std::uint64_t row_bytes) {
    const std::uint64_t last_block = (blocks - 1) * host_block_rows(registers, block_bytes, row_bytes);
    return buffer_rows(first_row, last_block + divide_up(block_bytes, row_bytes));
}

RowRange host_bytes(const Registers& registers, std::uint64_t address, std::uint64_t block_bytes,
                    std::uint64_t blocks) {
    const std::uint64_t last_block = (blocks - 1) * host_block_stride(registers, block_bytes);
    return {.first = address, .last = address + last_block + block_bytes};
}

RowRange image_byte_rows(const ImageLayout& layout, const Registers& registers, ImageByte first,
                         ImageByte end) {
    const std::uint64_t pitch = at_least_one(registers, layout.image_rows);
    const std::uint64_t rows_of_image = divide_up(layout.image_bytes, layout.row_bytes);
    if (end.image > first.image && pitch < rows_of_image) {
        throw ProgramError(
            fmt::format("{} is {}; an image takes {} rows", name(layout.image_rows), pitch, rows_of_image));
    }
    const auto row_of_image = [&](std::uint64_t image) {
        return saturating_sum(layout.first_row, saturating_product(image, pitch));
    };
    const std::uint64_t first_row = saturating_sum(row_of_image(first.image), first.byte / layout.row_bytes);
    const std::uint64_t end_row =
        saturating_sum(row_of_image(end.image), divide_up(end.byte, layout.row_bytes));
    return buffer_rows(first_row, end_row - first_row);
}

}  // namespace systole::isa
