#pragma once

#include <filesystem>
#include <vector>

namespace systole::frontend::onnx_file {

/// The files in a model's folder that hold its tensors, relative to it, sorted. Only those that exist and
/// that the reader accepts; of a damaged model, those before the damage. The values of tensors are not read.
std::vector<std::filesystem::path> external_files(const std::filesystem::path& model);

}  // namespace systole::frontend::onnx_file
