#include "sim/study/decode/answered_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "base/message_text.h"
#include "base/user_error.h"
#include "compiler/ir/graph.h"
#include "sim/run/execute/scratch_folder.h"
#include "sim/run/input/array_file.h"
#include "sim/run/input/formats.h"
#include "sim/run/network.h"
#include "sim/run/path_finder.h"
#include "sim/view/arrays/output_files.h"

namespace systole::decode {
namespace {

/// Where each input gets its numbers from.
struct Inputs {
    std::string tokens;
    std::vector<std::string> masks;
    std::vector<std::string> positions;
    std::vector<std::string> types;
    std::map<std::string, std::string> caches;  ///< by the output that replaces it
};

/// The network of a step behind a prompt, whose inputs are all there.
ir::Graph graph_of_step(run::RunConfig config) {
    config.new_tokens = 1;
    config.cached_tokens = 1;
    config.timing_only = true;
    config.input.clear();
    return run::read_model(run::make_spec(config)).graph;
}

Inputs inputs_of(const ir::Graph& graph) {
    Inputs inputs;
    std::vector<bool> is_cache(graph.inputs.size(), false);
    for (const ir::Graph::Cache& cache : graph.caches) {
        if (!cache.input) {
            throw UserError(fmt::format("{}: its cache of output {} has no elements behind a token",
                                        graph.name,
                                        in_quotes(graph.values[graph.outputs[cache.output]].name)));
        }
        is_cache[*cache.input] = true;
        inputs.caches.emplace(graph.values[graph.outputs[cache.output]].name,
                              graph.values[graph.inputs[*cache.input]].name);
    }
    std::vector<std::string> others;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        if (is_cache[i]) continue;
        const std::string& name = graph.values[graph.inputs[i]].name;
        const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
        std::vector<std::string>& kind = has("mask")       ? inputs.masks
                                         : has("position") ? inputs.positions
                                         : has("type")     ? inputs.types
                                                           : others;
        kind.push_back(name);
    }
    if (others.size() != 1) {
        throw UserError(
            fmt::format("{}: of its inputs, {} may take the tokens; it must be one, and no cache, nor have "
                        "mask, position or "
                        "type in its name; --cache names the caches",
                        graph.name, others.empty() ? "none" : fmt::format("{}", fmt::join(others, ", "))));
    }
    inputs.tokens = others.front();
    return inputs;
}

/// The tokens with the largest logits of an output [sequences][tokens][words] at the last token.
std::vector<std::uint32_t> largest_logits(const run::OutputArray& logits, std::size_t sequences) {
    std::vector<float> values = logits.values;
    if (values.empty() && logits.type == DataType::Float32) {
        values.resize(logits.stored.size() / sizeof(float));
        std::memcpy(values.data(), logits.stored.data(), logits.stored.size());
    }
    const std::size_t words = logits.shape.empty() ? 0 : logits.shape.back();
    if (words == 0 || values.size() % (sequences * words) != 0 || values.empty()) {
        throw UserError(fmt::format("output {}: it must have a float32 for each word as its logits",
                                    in_quotes(logits.name)));
    }
    std::vector<std::uint32_t> tokens;
    const std::size_t of_sequence = values.size() / sequences;
    for (std::size_t i = 0; i < sequences; ++i) {
        const auto last = std::span(values).subspan((i + 1) * of_sequence - words, words);
        tokens.push_back(static_cast<std::uint32_t>(std::ranges::max_element(last) - last.begin()));
    }
    return tokens;
}

class Answering {
public:
    Answering(const run::RunConfig& config, const Sequences& prompts, run::Executor& executor)
        : config_(config),
          sequences_(prompts.size()),
          graph_(graph_of_step(config)),
          inputs_(inputs_of(graph_)),
          executor_(executor) {}

    /// The record of a step on these tokens; its caches are kept for the next one.
    run::RunRecord run(const Sequences& tokens, std::uint32_t cached) {
        const auto count = static_cast<std::uint32_t>(tokens.front().size());
        run::RunConfig config = config_;
        config.batch = static_cast<std::uint32_t>(sequences_);
        config.limit = 0;
        config.new_tokens = count;
        config.cached_tokens = cached;
        config.input = cache_files_;
        std::vector<run::OutputArray> arrays{
            array(inputs_.tokens, count, [&](std::size_t i, std::size_t place) { return tokens[i][place]; })};
        for (const std::string& name : inputs_.masks)
            arrays.push_back(array(name, cached + count, [](std::size_t, std::size_t) { return 1U; }));
        for (const std::string& name : inputs_.types)
            arrays.push_back(array(name, count, [](std::size_t, std::size_t) { return 0U; }));
        for (const std::string& name : inputs_.positions) {
            arrays.push_back(array(name, count, [&](std::size_t, std::size_t place) {
                return cached + static_cast<std::uint32_t>(place);
            }));
        }
        add_files(arrays, config.input);
        run::RunSpec spec = run::make_spec(config);
        spec.observed.outputs = true;
        std::vector<run::RunOutcome> outcomes = executor_.run(std::array{spec});
        if (!outcomes.front().record) throw UserError(outcomes.front().error);
        run::RunRecord record = std::move(*outcomes.front().record);
        keep_caches(record.answers.output_arrays);
        remove_old_folders();
        return record;
    }

    /// The next token of each sequence.
    std::vector<std::uint32_t> answers(const run::RunRecord& record) const {
        for (const run::OutputArray& output : record.answers.output_arrays) {
            if (!inputs_.caches.contains(output.name)) return largest_logits(output, sequences_);
        }
        throw UserError(fmt::format("{}: it has no output besides its caches", graph_.name));
    }

private:
    template <class Number>
    run::OutputArray array(const std::string& name, std::uint32_t count, const Number& number) const {
        run::OutputArray made{
            .name = name, .shape = {sequences_, count}, .values = {}, .type = DataType::Int32, .stored = {}};
        std::vector<std::uint32_t> words;
        for (std::size_t i = 0; i < sequences_; ++i) {
            for (std::size_t place = 0; place < count; ++place) words.push_back(number(i, place));
        }
        made.stored.resize(words.size() * sizeof(std::uint32_t));
        std::memcpy(made.stored.data(), words.data(), made.stored.size());
        return made;
    }

    void add_files(const std::vector<run::OutputArray>& arrays, std::vector<std::string>& files) {
        const std::filesystem::path folder = next_folder();
        for (const arrays::WrittenOutput& written : arrays::write_outputs(arrays, folder)) {
            // Beside real numbers, those that the chip stores are written too.
            if (written.file.stem().extension() == ".raw") continue;
            files.push_back(written.output + "=" + written.file.string());
        }
    }

    /// The next step's inputs. An array of one sequence may lack the axis of the batch.
    void keep_caches(const std::vector<run::OutputArray>& outputs) {
        std::vector<run::OutputArray> caches;
        for (const run::OutputArray& output : outputs) {
            const auto input = inputs_.caches.find(output.name);
            if (input == inputs_.caches.end()) continue;
            caches.push_back(output);
            caches.back().name = input->second;
        }
        cache_files_.clear();
        add_files(caches, cache_files_);
    }

    /// All but the last one, whose caches the next step reads.
    void remove_old_folders() {
        for (; oldest_ + 1 < folders_; ++oldest_)
            std::filesystem::remove_all(scratch_.path() / std::to_string(oldest_));
    }

    /// Files keep their contents, as a file that has changed would be read once more.
    std::filesystem::path next_folder() {
        std::filesystem::path folder = scratch_.path() / std::to_string(folders_++);
        std::filesystem::create_directory(folder);
        return folder;
    }

    const run::RunConfig& config_;
    const std::size_t sequences_;
    const ir::Graph graph_;
    const Inputs inputs_;
    run::Executor& executor_;
    const run::ScratchFolder scratch_;
    std::size_t folders_ = 0;
    std::size_t oldest_ = 0;
    std::vector<std::string> cache_files_;
};

}  // namespace

Sequences read_prompts(const std::string& file) {
    const input::ArrayFile arrays(run::PathFinder({}).find(file));
    const std::string name = arrays.is_archive() ? arrays.names().front() : "";
    const input::WordArray array = arrays.read(name, {.name = "prompts", .type = DataType::Int32});
    constexpr std::size_t most_axes = 2;
    if (array.shape.empty() || array.shape.size() > most_axes || array.words.empty()) {
        throw UserError(fmt::format("{}: its shape is {}; prompts are [sequences][tokens] or [tokens]", file,
                                    input::shape_text(array.shape)));
    }
    const std::size_t count = array.shape.back();
    Sequences sequences;
    for (auto first = array.words.begin(); first != array.words.end();
         first += static_cast<std::ptrdiff_t>(count))
        sequences.emplace_back(first, first + static_cast<std::ptrdiff_t>(count));
    return sequences;
}

Sequences answer_tokens(const run::RunConfig& config, const Sequences& prompts, std::uint32_t steps,
                        run::Executor& executor, const std::function<void(const run::RunRecord&)>& note) {
    Answering answering(config, prompts, executor);
    Sequences answered(prompts.size());
    Sequences tokens = prompts;
    std::uint32_t cached = 0;
    for (std::uint32_t run = 0; run <= steps; ++run) {
        const run::RunRecord record = answering.run(tokens, cached);
        note(record);
        cached += static_cast<std::uint32_t>(tokens.front().size());
        const std::vector<std::uint32_t> next = answering.answers(record);
        for (std::size_t i = 0; i < next.size(); ++i) {
            answered[i].push_back(next[i]);
            tokens[i] = {next[i]};
        }
    }
    return answered;
}

}  // namespace systole::decode
