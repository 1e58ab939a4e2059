#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/run/images.h"
#include "sim/run/record/record.h"
#include "sim/run/training_file.h"

/// The state of a training: arrays that each step takes and replaces.
namespace systole::train {

/// How far a training is.
struct Progress {
    std::uint32_t steps = 0;  ///< that are done
    std::uint32_t seed = 1;   ///< of the order of examples
};

/// A name of an array that the state of no program has.
inline constexpr const char* steps_array = "training.steps";
inline constexpr const char* seed_array = "training.seed";

/// The state at first of such inputs, by the rules of the file; a seed and a name give the same values on
/// every computer. Throws ConfigError for an input without a rule, and for a rule that does not fit its type
/// or shape.
std::vector<run::OutputArray> initial_state(const std::vector<run::InputTensor>& inputs,
                                            const run::TrainingFile& file, std::uint64_t seed);

/// The array of an input with one number everywhere, rounded to the format of floats; `place` leads messages.
/// Throws ConfigError for a number that a format of whole numbers does not hold.
run::OutputArray filled(const run::InputTensor& input, double number, const std::string& place);

/// Replaces arrays of the state by those of an .npz file that have the names of inputs. Throws InputError for
/// a file that has none of them, and for an array of another shape or with a number that its format does not
/// hold.
void read_state(std::vector<run::OutputArray>& state, const std::vector<run::InputTensor>& inputs,
                const std::filesystem::path& path);

/// A checkpoint: the whole state and how far the training is, as an .npz file. Throws OutputError.
void write_checkpoint(const std::vector<run::OutputArray>& state, const Progress& progress,
                      const std::filesystem::path& path);
/// Reads it. Throws InputError for a file that has not all of the state.
Progress read_checkpoint(std::vector<run::OutputArray>& state, const std::vector<run::InputTensor>& inputs,
                         const std::filesystem::path& path);

}  // namespace systole::train
