#include "sim/study/train/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/message_text.h"
#include "hw/machine/config_error.h"
#include "sim/run/arrays.h"
#include "sim/run/input/formats.h"
#include "sim/run/input/read.h"
#include "sim/run/network.h"
#include "sim/run/outputs.h"

namespace systole::train {
namespace {

using machine::ConfigError;
using run::InputTensor;
using run::OutputArray;

run::RunSpec with_state(run::RunSpec spec, const run::TrainingFile& file) {
    spec.state = file.state;
    return spec;
}

const std::string& path_of(const run::RunSpec& spec) {
    return spec.network.value().path.text;
}

/// The array for each of several inferences.
OutputArray repeated(OutputArray array, std::uint32_t inferences) {
    if (inferences == 1) return array;
    const std::vector<std::uint8_t> once = array.stored;
    for (std::uint32_t i = 1; i < inferences; ++i)
        array.stored.insert(array.stored.end(), once.begin(), once.end());
    array.shape.insert(array.shape.begin(), inferences);
    return array;
}

std::vector<float> floats_of(const OutputArray& array) {
    std::vector<float> floats;
    for (const std::uint32_t word : run::words_of(array)) floats.push_back(std::bit_cast<float>(word));
    return floats;
}

std::uint32_t largest(std::span<const float> answers) {
    return static_cast<std::uint32_t>(std::ranges::max_element(answers) - answers.begin());
}

}  // namespace

Evaluation::Evaluation(run::RunSpec spec, const std::vector<InputTensor>& state) : program_(std::move(spec)) {
    program_.compile();  // an impossible one is refused before an epoch has been trained
    const std::vector<InputTensor>& inputs = program_.inputs();
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto found = std::ranges::find(state, inputs[i].name, &InputTensor::name);
        states_.emplace_back();
        if (found == state.end()) {
            others.push_back(i);
            continue;
        }
        if (run::array_shape(*found) != run::array_shape(inputs[i]) || found->type != inputs[i].type) {
            throw ConfigError(fmt::format("{}: input {} is {} {}; in the training it is {} {}",
                                          path_of(program_.spec()), in_quotes(inputs[i].name),
                                          name_of(inputs[i].type),
                                          input::shape_text(run::array_shape(inputs[i])),
                                          name_of(found->type), input::shape_text(run::array_shape(*found))));
        }
        states_.back() = static_cast<std::size_t>(found - state.begin());
    }
    if (others.size() != 1) {
        std::vector<std::string> names;
        names.reserve(others.size());
        for (const std::size_t place : others) names.push_back(in_quotes(inputs[place].name));
        throw ConfigError(
            fmt::format("{}: one input must take the examples, the others the names of the "
                        "training's state; of {} inputs, these have none of its names: {}",
                        path_of(program_.spec()), inputs.size(), names.empty() ? "none" : joined(names)));
    }
    place_ = others.front();
    if (run::array_shape(inputs[place_]).empty()) {
        throw ConfigError(fmt::format("{}: input {} is one number; it must take examples",
                                      path_of(program_.spec()), in_quotes(inputs[place_].name)));
    }
    if (!program_.graph().state.empty())
        throw ConfigError(fmt::format("{}: it has state; a program that answers changes nothing",
                                      path_of(program_.spec())));
    find_classes();
}

void Evaluation::find_classes() {
    const ir::Graph& graph = program_.graph();
    const ir::Value& answers = graph.values[graph.outputs.front()];
    std::vector<std::uint32_t> shape = run::axes_of_inference(answers).extents;
    if (answers.split_axis) shape.at(*answers.split_axis) *= graph.replicas;
    const DataType type = answers.file_type.value_or(answers.type);
    if (!is_float(type) || shape.size() != 2 || shape.front() != run::array_shape(input()).front()) {
        throw ConfigError(fmt::format(
            "{}: output {} is {} {}; evaluation needs floats, one for each of {} examples and each class",
            path_of(program_.spec()), in_quotes(answers.name), name_of(type), input::shape_text(shape),
            run::array_shape(input()).front()));
    }
    classes_ = shape.back();
}

std::vector<std::uint32_t> Evaluation::answers(const std::vector<OutputArray>& state,
                                               const Examples& examples, std::uint64_t first) {
    const std::uint64_t at_once = std::uint64_t{run::array_shape(input()).front()} * program_.inferences();
    std::vector<std::uint32_t> found;
    for (std::uint64_t next = first; next < examples.count; next += at_once) {
        // The last batch is filled up with its last example, whose further answers are not read.
        std::vector<std::uint32_t> chosen(at_once);
        for (std::uint64_t i = 0; i < at_once; ++i)
            chosen[i] = static_cast<std::uint32_t>(std::min(next + i, examples.count - 1));
        std::vector<OutputArray> arrays;
        for (const std::optional<std::size_t>& place : states_) {
            arrays.push_back(place ? repeated(state[*place], program_.inferences())
                                   : batch_of(examples, chosen, input()));
        }
        const std::vector<OutputArray> outputs = program_.run(arrays);
        const std::vector<float> answers = floats_of(outputs.front());
        for (std::uint64_t i = 0; i < std::min(at_once, examples.count - next); ++i)
            found.push_back(largest(std::span(answers).subspan(i * classes_, classes_)));
    }
    return found;
}

Training::Training(Order order) : order_(std::move(order)), program_(with_state(order_.step, order_.file)) {
    if (!order_.step.timing_only) program_.compile();  // else it is compiled where it is timed
    find_inputs();
    if (order_.forward) evaluation_ = std::make_unique<Evaluation>(*order_.forward, state_inputs_);
    read_data();
    progress_.seed = order_.seed;
    state_ = initial_state(state_inputs_, order_.file, order_.seed);
}

std::size_t Training::place_of(const std::string& input, const char* key) const {
    const auto found = std::ranges::find(program_.inputs(), input, &InputTensor::name);
    if (found != program_.inputs().end()) return static_cast<std::size_t>(found - program_.inputs().begin());
    if (const auto position = run::position_in(input, program_.inputs().size())) return *position;
    throw ConfigError(fmt::format("{}: {} is {}; {} has no input of that name or position", order_.file.path,
                                  key, in_quotes(input), path_of(order_.step)));
}

void Training::find_inputs() {
    const ir::Graph& graph = program_.graph();
    if (graph.state.empty()) {
        throw ConfigError(
            fmt::format("{}: it has no state, and neither has {}: no output replaces an input, and "
                        "a step would change nothing",
                        path_of(order_.step), order_.file.path));
    }
    std::vector<bool> is_found(graph.inputs.size(), false);
    for (const ir::Graph::State& pair : graph.state) {
        state_places_.push_back(pair.input);
        state_outputs_.push_back(pair.output);
        state_inputs_.push_back(program_.inputs()[pair.input]);
        is_found[pair.input] = true;
    }
    const auto find = [&](const std::string& input, const char* key) {
        const std::size_t place = place_of(input, key);
        if (is_found[place]) {
            throw ConfigError(fmt::format("{}: {} is {}, which is state or has another key, too",
                                          order_.file.path, key, in_quotes(input)));
        }
        is_found[place] = true;
        return place;
    };
    data_[find(order_.file.images, "images")];
    if (!order_.file.labels.empty()) data_[find(order_.file.labels, "labels")];
    if (!order_.file.step.empty()) step_place_ = find(order_.file.step, "step");
    for (const auto& [input, value] : order_.file.values) {
        const std::size_t place = find(input, "values");
        constants_[place] =
            filled(program_.inputs()[place], value.get<double>(), order_.file.path + ": values");
    }
    const auto missing = std::ranges::find(is_found, false);
    if (missing != is_found.end()) {
        throw ConfigError(fmt::format(
            "{}: input {} of {} is neither state nor one of images, labels, step and values",
            order_.file.path,
            in_quotes(program_.inputs()[static_cast<std::size_t>(missing - is_found.begin())].name),
            path_of(order_.step)));
    }
}

void Training::read_data() {
    const InputTensor& images = program_.inputs()[place_of(order_.file.images, "images")];
    const std::vector<std::uint32_t> shape = run::array_shape(images);
    if (shape.empty()) {
        throw ConfigError(fmt::format("{}: images is {}, which is one number; it must take examples",
                                      order_.file.path, in_quotes(images.name)));
    }
    record_.batch = shape.front();
    if (order_.batch != 0 && order_.batch != record_.batch) {
        throw ConfigError(fmt::format("--batch {}: {} takes {} examples a step", order_.batch,
                                      path_of(order_.step), record_.batch));
    }
    const run::RunData& given = order_.step.data;
    check_labels();
    for (auto& [place, examples] : data_) {
        const InputTensor& input = program_.inputs()[place];
        const std::vector<std::uint32_t> its_shape = run::array_shape(input);
        if (its_shape.empty() || its_shape.front() != record_.batch) {
            throw ConfigError(fmt::format("{}: labels is {}, which is {}; images takes {} examples",
                                          order_.file.path, in_quotes(input.name),
                                          input::shape_text(its_shape), record_.batch));
        }
        const bool are_labels =
            !order_.file.labels.empty() && place == place_of(order_.file.labels, "labels");
        if (given.random_input != 0) {
            examples = random_examples(input, record_.batch * order_.random_steps, given.random_input);
        } else if (are_labels) {
            if (!given.labels)
                throw ConfigError(fmt::format("input {} takes labels: give --labels", in_quotes(input.name)));
            examples = read_labels(*given.labels, input);
        } else {
            if (given.input.empty())
                throw ConfigError(fmt::format("input {} takes examples: give --input, or --random-input",
                                              in_quotes(input.name)));
            examples = read_examples(given.input, input, given.preparation, path_of(order_.step));
        }
    }
    const Examples& first = data_.begin()->second;
    for (const auto& [place, examples] : data_) {
        if (examples.count == first.count) continue;
        throw input::InputError(fmt::format("{}: there are {} examples; {} has {}", examples.place,
                                            examples.count, first.place, first.count));
    }
    trained_on_ = first.count;
    read_evaluated();
    record_.steps_an_epoch = trained_on_ / record_.batch;
    record_.left_out = trained_on_ % record_.batch;
    record_.epochs = order_.epochs;
    if (record_.steps_an_epoch == 0) {
        throw input::InputError(fmt::format("{}: there are {} examples to train on; a step takes {}",
                                            first.place, trained_on_, record_.batch));
    }
    constexpr std::uint64_t most_steps = std::numeric_limits<std::uint32_t>::max();
    if (order_.epochs > most_steps / record_.steps_an_epoch) {
        throw ConfigError(fmt::format("--epochs {}: each has {} steps; a training has at most {}",
                                      order_.epochs, record_.steps_an_epoch, most_steps));
    }
    find_columns();
}

/// Labels must be for something.
void Training::check_labels() const {
    const run::RunData& given = order_.step.data;
    if (!given.labels) return;
    if (given.random_input != 0)
        throw ConfigError("--labels and --random-input are given; made-up examples have made-up labels");
    if (order_.file.labels.empty() && order_.validation_split <= 0.0) {
        throw ConfigError(
            fmt::format("--labels is given; {} has no key labels, and nothing takes them", order_.file.path));
    }
}

void Training::find_columns() {
    const ir::Graph& graph = program_.graph();
    const std::vector<run::FileOutput> outputs = run::outputs_of_file(graph);
    for (const auto& [column, given] : order_.file.columns) {
        const std::optional<std::size_t> found = run::find_output(outputs, given);
        const std::optional<std::size_t> place = found ? outputs[*found].place : std::nullopt;
        const ir::Value* const value = place ? &graph.values[graph.outputs[*place]] : nullptr;
        if (value == nullptr || value->shape.elements() != 1 || value->split_axis) {
            throw ConfigError(
                fmt::format("{}: columns.{} is {}; {} computes no output of one number of that name "
                            "or position",
                            order_.file.path, column, in_quotes(given), path_of(order_.step)));
        }
        columns_.push_back(*place);
        record_.columns.push_back(column);
    }
}

void Training::read_evaluated() {
    if (!order_.forward) {
        if (order_.validation_split > 0.0)
            throw ConfigError("--validation-split needs a program that answers: give --evaluate");
        return;
    }
    const run::RunData& given = order_.forward->data;
    const std::optional<run::Content>& labels = given.input.empty() ? order_.step.data.labels : given.labels;
    std::uint64_t first = 0;
    if (!given.input.empty()) {
        if (order_.validation_split > 0.0) {
            throw ConfigError(
                "--validation-split and --validation-input are given; one says what is "
                "evaluated on");
        }
        if (!labels) throw ConfigError("--validation-input needs the classes: give --validation-labels");
        evaluated_ =
            read_examples(given.input, evaluation_->input(), given.preparation, path_of(*order_.forward));
    } else {
        if (given.labels)
            throw ConfigError(
                "--validation-labels is given without --validation-input, whose classes they are");
        if (order_.validation_split <= 0.0 || !labels) {
            throw ConfigError(
                "--evaluate needs examples with labels: give --validation-split, or "
                "--validation-input and --validation-labels");
        }
        evaluated_ = read_examples(order_.step.data.input, evaluation_->input(), order_.step.data.preparation,
                                   path_of(*order_.forward));
        // As Keras does: the last ones, before any order.
        first =
            static_cast<std::uint64_t>(static_cast<double>(trained_on_) * (1.0 - order_.validation_split));
        trained_on_ = first;
    }
    const std::string& place = labels->path.text;
    classes_ = input::read_labels(place);
    if (classes_.size() != evaluated_.count) {
        throw input::InputError(fmt::format("{}: there are {} labels; {} has {} examples", place,
                                            classes_.size(), evaluated_.place, evaluated_.count));
    }
    record_.evaluated_on = evaluated_.count - first;
    if (record_.evaluated_on == 0) {
        throw input::InputError(fmt::format("{}: none of its {} examples is left to evaluate on",
                                            evaluated_.place, evaluated_.count));
    }
    const auto wrong =
        std::ranges::find_if(classes_, [&](std::uint32_t label) { return label >= evaluation_->classes(); });
    if (wrong != classes_.end()) {
        throw input::InputError(fmt::format("{}: label {} is {}; {} has {} classes, 0 to {}", place,
                                            wrong - classes_.begin(), *wrong, path_of(*order_.forward),
                                            evaluation_->classes(), evaluation_->classes() - 1));
    }
}

void Training::set_values(const std::filesystem::path& file) {
    read_state(state_, state_inputs_, file);
}

void Training::go_on_from(const std::filesystem::path& checkpoint) {
    const Progress read = read_checkpoint(state_, state_inputs_, checkpoint);
    if (read.seed != order_.seed) {
        throw ConfigError(fmt::format("{}: it is of seed {}; the order of examples would change with seed {}",
                                      checkpoint.string(), read.seed, order_.seed));
    }
    if (read.steps > all_steps()) {
        throw ConfigError(fmt::format("{}: it is after {} steps; {} epochs have {}", checkpoint.string(),
                                      read.steps, order_.epochs, all_steps()));
    }
    progress_ = read;
    record_.first_step = read.steps;
}

void Training::write_checkpoint(const std::filesystem::path& file) const {
    train::write_checkpoint(state_, progress_, file);
}

void Training::step() {
    if (is_over()) throw std::logic_error("a step after the last one");
    const std::uint64_t epoch = progress_.steps / record_.steps_an_epoch;
    const std::uint64_t number = progress_.steps % record_.steps_an_epoch;
    const std::vector<std::uint32_t> order = order_of_epoch(trained_on_, order_.seed, epoch);
    const auto chosen = std::span(order).subspan(number * record_.batch, record_.batch);
    std::vector<OutputArray> arrays(program_.inputs().size());
    for (std::size_t i = 0; i < state_places_.size(); ++i) arrays[state_places_[i]] = state_[i];
    for (const auto& [place, examples] : data_)
        arrays[place] = batch_of(examples, chosen, program_.inputs()[place]);
    for (const auto& [place, array] : constants_) arrays[place] = array;
    if (step_place_) {
        arrays[*step_place_] = filled(program_.inputs()[*step_place_], static_cast<double>(progress_.steps),
                                      order_.file.path + ": step");
    }
    std::vector<OutputArray> outputs = program_.run(arrays);
    std::vector<double> row;
    for (const std::size_t column : columns_) {
        const OutputArray& output = outputs[column];
        row.push_back(run::shown_output(output, output.type).first.front());
    }
    record_.steps.push_back(std::move(row));
    for (std::size_t i = 0; i < state_outputs_.size(); ++i) {
        OutputArray& next = outputs[state_outputs_[i]];
        next.name = state_inputs_[i].name;
        state_[i] = std::move(next);
    }
    ++progress_.steps;
    if (number + 1 == record_.steps_an_epoch) end_epoch();
}

void Training::end_epoch() {
    run::TrainedEpoch epoch;
    const std::size_t steps = std::min<std::size_t>(record_.steps_an_epoch, record_.steps.size());
    for (std::size_t column = 0; column < columns_.size(); ++column) {
        double sum = 0.0;
        for (std::size_t i = record_.steps.size() - steps; i < record_.steps.size(); ++i)
            sum += record_.steps[i][column];
        epoch.means.push_back(sum / static_cast<double>(steps));
    }
    if (evaluation_) {
        const std::uint64_t first = evaluated_.count - record_.evaluated_on;
        const std::vector<std::uint32_t> answers = evaluation_->answers(state_, evaluated_, first);
        std::uint64_t right = 0;
        for (std::size_t i = 0; i < answers.size(); ++i) right += answers[i] == classes_[first + i] ? 1 : 0;
        epoch.evaluated = static_cast<double>(right) / static_cast<double>(answers.size());
    }
    record_.by_epoch.push_back(std::move(epoch));
}

}  // namespace systole::train
