#pragma once

#include <filesystem>
#include <vector>

#include "sim/run/record/record.h"

namespace systole::train {

/// Writes a copy of a Keras file (.h5) of the network whose variables have the values of the state. A
/// variable is found by the end of its path: "conv2d/kernel" of the dataset "conv2d/conv2d/kernel:0" is the
/// array "variables['net/conv2d/kernel']". Throws InputError for a file that is none of Keras, and for a
/// variable that no array, or more than one, is for, or whose shape differs; OutputError where the copy
/// cannot be written.
void write_keras_file(const std::filesystem::path& network, const std::vector<run::OutputArray>& state,
                      const std::filesystem::path& copy);

}  // namespace systole::train
