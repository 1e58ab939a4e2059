#pragma once

#include "compiler/schedule/lowering.h"

namespace systole::schedule {

/// Throws std::logic_error unless the window has a size and the layer's output is as large as windows fit
/// the padded input.
void check_window(const LayerView& view, const ir::Window& window);

/// Whether every window has a pixel inside the image.
bool windows_meet_image(const LayerView& view, const ir::Window& window);

}  // namespace systole::schedule
