#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sim/cli/context.h"
#include "sim/run/run_config.h"

namespace systole::cli {

/// The options that set keys of a run file, and the run file itself.
struct RunOptions {
    std::string file;  ///< a run file, or by its extension a program or a network
    std::string machine, model, program;
    std::vector<std::string> input_shape;
    std::string tflite_runtime, signature;
    std::string state;
    std::string new_tokens, cached_tokens;
    std::vector<std::string> cache;
    std::string size_multiplier;
    std::vector<std::string> input;
    std::string random_input;
    std::string labels, label_names;
    std::string resize, crop, layout, preset;
    std::string mapping;
    std::string input_scale, batch, limit;
    std::vector<std::string> mean, std;
    std::string channels;
    std::vector<std::string> calibration;
    std::string calibration_method;
    std::string host;
    std::vector<std::string> baselines;
    std::string arrivals, latency_limit, arrival_seed;
    bool no_overlap = false;
    bool no_cut_images = false;
    bool no_host_time = false;
    std::string out, outputs, float_outputs;
    bool timing_only = false;
    bool float_reference = false;
    bool accuracy_by_layer = false;
    bool instructions = false;
    std::string power_windows;
    std::string registers;
    std::vector<std::string> print;
    bool no_explain = false;
    std::vector<std::string> trace;
    std::string trace_from, trace_to;
    std::vector<std::string> trace_layers;
    std::vector<std::string> trace_pe;
    std::vector<std::string> set;

    /// The given options as settings: options first, then --set in the given order. Throws ConfigError.
    std::vector<run::Setting> settings() const;
    /// The run file, if one is given; a bare name means a file of configs/runs.
    std::filesystem::path run_file() const;
    /// Throws ConfigError.
    run::RunConfig config() const;
};

/// Whether the extension of a file is that of a program: .tpu, or .asm or .s for assembly.
bool names_program(const std::string& file);
/// Whether the extension is that of a network: .h5, .hdf5, .keras, .onnx, .tflite, .hlo, or .txt for the text
/// of a graph. Graph files (.json) are not told from run files by their name.
bool names_network(const std::string& file);

/// Adds the options for machine, model and data, which running and compiling have in common. `file_is`
/// explains the positional argument.
void add_model_options(CLI::App& command, Context& context, RunOptions& options, const std::string& file_is);
/// Adds the options that a study takes too: for the program, its labels, what it is compared with.
void add_comparison_options(CLI::App& command, Context& context, RunOptions& options);
/// Adds the other options of a run: for its outputs.
void add_run_only_options(CLI::App& command, Context& context, RunOptions& options);

}  // namespace systole::cli
