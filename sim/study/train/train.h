#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/run/execute/repeated_run.h"
#include "sim/run/record/record.h"
#include "sim/run/record/spec.h"
#include "sim/run/training_file.h"
#include "sim/study/train/examples.h"
#include "sim/study/train/state.h"

namespace systole::train {

/// What is asked for.
struct Order {
    run::TrainingFile file;
    run::RunSpec step;                    ///< the program of a step; its data are those to train on
    std::optional<run::RunSpec> forward;  ///< the program that answers; its data are those to evaluate on
    std::uint32_t batch = 0;              ///< examples a step; 0: those that the program takes
    std::uint64_t epochs = 1;
    std::uint32_t seed = 1;          ///< of values at first and of the order of examples
    double validation_split = 0.0;   ///< the share of examples, the last ones, that are evaluated on instead
    std::uint64_t random_steps = 1;  ///< steps of an epoch of made-up examples
};

/// The program that answers, with the values that a training has given it.
class Evaluation {
public:
    /// Throws ConfigError unless one input of the program takes examples, all others are state of the
    /// training, and the first output has a float for each example and class.
    Evaluation(run::RunSpec spec, const std::vector<run::InputTensor>& state);

    const run::InputTensor& input() const { return program_.inputs()[place_]; }
    std::uint32_t classes() const { return classes_; }
    /// The class of each example from `first` on: its largest answer, the first of equals.
    std::vector<std::uint32_t> answers(const std::vector<run::OutputArray>& state, const Examples& examples,
                                       std::uint64_t first);

private:
    void find_classes();

    run::RepeatedRun program_;
    std::size_t place_ = 0;  ///< of the examples among the inputs
    std::uint32_t classes_ = 0;
    std::vector<std::optional<std::size_t>> states_;  ///< by input, its place in the state
};

/// A training whose steps the chip computes, one after the other.
class Training {
public:
    /// Reads programs and data. Throws UserError.
    explicit Training(Order order);

    /// Before the first step: values of an .npz file instead of those by the rules.
    void set_values(const std::filesystem::path& file);
    /// Goes on from a checkpoint. Throws InputError for one of another seed, or beyond the last epoch.
    void go_on_from(const std::filesystem::path& checkpoint);
    void write_checkpoint(const std::filesystem::path& file) const;

    bool is_over() const { return progress_.steps == all_steps(); }
    std::uint64_t done() const { return progress_.steps; }
    std::uint64_t all_steps() const { return record_.steps_an_epoch * order_.epochs; }
    /// Computes the next step, and behind the last step of an epoch evaluates.
    void step();

    const std::vector<run::OutputArray>& state() const { return state_; }
    std::uint32_t replicas() const { return program_.graph().replicas; }
    /// What has happened, without its cycles.
    const run::Training& record() const { return record_; }

private:
    void find_inputs();
    std::size_t place_of(const std::string& input, const char* key) const;
    void read_data();
    void check_labels() const;
    void find_columns();
    void read_evaluated();
    void end_epoch();

    Order order_;
    run::RepeatedRun program_;
    std::unique_ptr<Evaluation> evaluation_;
    std::vector<run::InputTensor> state_inputs_;
    std::vector<std::size_t> state_places_;              ///< among the inputs
    std::vector<std::size_t> state_outputs_;             ///< among the outputs
    std::map<std::size_t, Examples> data_;               ///< by place of the input
    std::vector<std::size_t> columns_;                   ///< outputs that are shown
    std::optional<std::size_t> step_place_;              ///< the input that takes the number of the step
    std::map<std::size_t, run::OutputArray> constants_;  ///< by place of the input
    Examples evaluated_;                                 ///< the last ones of which are evaluated on
    std::vector<std::uint32_t> classes_;                 ///< of these examples
    std::uint64_t trained_on_ = 0;                       ///< examples
    std::vector<run::OutputArray> state_;
    Progress progress_;
    run::Training record_;
};

/// The record of the first steps of a training, without values, and in it the cycles of all steps: those of
/// the first ones, and for each further step the cycles that the last of these adds. State stays on the chip
/// between steps. A further step may take a cycle more or less, as links and memory move no whole bytes a
/// cycle.
run::RunRecord time_steps(const Order& order, std::uint32_t replicas, run::Training training);

}  // namespace systole::train
