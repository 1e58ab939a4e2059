#include "hw/isa/moved_pixels.h"

#include "hw/isa/tile_layout.h"

namespace systole::isa {

MovedPixels moved_pixels(const Move& move, const Registers& registers) {
    const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
    return {.lines = {.stride = number(window_extent(registers, Register::WindowStrideY)),
                      .dilation = number(window_extent(registers, Register::WindowDilationY)),
                      .pad = registers.as_signed(Register::WindowPadTop),
                      .repeats = move.repeats},
            .columns = {.stride = number(window_extent(registers, Register::WindowStrideX)),
                        .dilation = number(window_extent(registers, Register::WindowDilationX)),
                        .pad = registers.as_signed(Register::WindowPadLeft),
                        .repeats = move.repeats}};
}

}  // namespace systole::isa
