#include "sim/study/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "sim/run/path_finder.h"
#include "sim/run/run_config.h"
#include "sim/study/explain/accumulator_change.h"
#include "sim/study/explain/cause.h"
#include "sim/study/explain/what_if.h"
#include "sim/view/report/numbers.h"

namespace systole::explain {
namespace {

double seconds_an_inference(const Facts& facts, const Simulation& simulation) {
    return static_cast<double>(facts.elapsed()) / static_cast<double>(simulation.clock_hz) /
           static_cast<double>(simulation.inferences);
}

/// The speedup of an inference of the run or layer; absent if no cycle of it is left.
std::optional<double> speedup(const Facts& before, const Simulation& base, const Facts& after,
                              const Simulation& changed) {
    if (after.elapsed() == 0) return std::nullopt;
    return seconds_an_inference(before, base) / seconds_an_inference(after, changed);
}

/// The changes that are simulated, each once, with their results.
class Changes {
public:
    explicit Changes(const Situation& situation) : situation_(situation) {}

    /// Adds the changes that might help against the causes of these cycles.
    void want(const Facts& facts) {
        for (const Cause cause : causes_of(facts, situation_.units)) {
            for (WhatIf& candidate : what_ifs(cause, situation_)) want(std::move(candidate));
        }
    }

    void want(WhatIf candidate) {
        if (!find(candidate.change)) changes_.push_back({std::move(candidate), {}});
    }

    void simulate(const Simulate& simulate) {
        std::vector<run::RunConfig> runs;
        runs.reserve(changes_.size());
        for (const Change& change : changes_) runs.push_back(changed(situation_.config, change.what_if));
        std::vector<Answer> answers = simulate(runs);
        for (std::size_t i = 0; i < changes_.size(); ++i) changes_[i].answer = std::move(answers.at(i));
    }

    std::size_t count() const { return changes_.size(); }
    const WhatIf& what_if(std::size_t i) const { return changes_[i].what_if; }
    const Answer& answer(std::size_t i) const { return changes_[i].answer; }

    /// The indices of the changes that might help against the cause and could be simulated.
    std::vector<std::size_t> against(Cause cause) const {
        std::vector<std::size_t> found;
        for (const WhatIf& candidate : what_ifs(cause, situation_)) {
            const std::size_t i = find(candidate.change).value();
            if (answer(i).simulation) found.push_back(i);
        }
        return found;
    }

private:
    struct Change {
        WhatIf what_if;
        Answer answer;
    };

    std::optional<std::size_t> find(std::string_view change) const {
        for (std::size_t i = 0; i < changes_.size(); ++i) {
            if (changes_[i].what_if.change == change) return i;
        }
        return std::nullopt;
    }

    const Situation& situation_;
    std::vector<Change> changes_;
};

/// Composes the explanations from the simulations.
class Explainer {
public:
    Explainer(const Simulation& base, const Changes& changes, const machine::MachineConfig& machine)
        : base_(base), changes_(changes), machine_(machine) {}

    report::Explanation explain_run() const {
        return explain(base_.run, {}, [](const Simulation& changed) { return changed.run; });
    }

    report::Explanation explain_layer(std::size_t tag) const {
        const TagFacts& layer = base_.tags[tag];
        report::Explanation why =
            explain(layer.facts, {.kind = layer.kind}, [tag](const Simulation& changed) {
                return tag < changed.tags.size() ? changed.tags[tag].facts : Facts{};
            });
        why.name = layer.name;
        return why;
    }

    std::optional<double> speedup_of_run(std::size_t i) const {
        const std::optional<Simulation>& changed = changes_.answer(i).simulation;
        return changed ? speedup(base_.run, base_, changed->run, *changed) : std::nullopt;
    }

private:
    /// The explanation of a subject whose cycles with a change of the machine `facts_of` gives.
    template <class FactsOf>
    report::Explanation explain(const Facts& facts, const Subject& subject, FactsOf facts_of) const {
        report::Explanation why;
        why.cycles = facts.elapsed();
        if (base_.run.elapsed() > 0) {
            why.share = static_cast<double>(why.cycles) / static_cast<double>(base_.run.elapsed());
        }
        const std::vector<Cause> causes = causes_of(facts, base_.units);
        if (causes.empty()) {
            why.sentence = "Takes no cycle of " + machine::main_unit_of(base_.units).main->words;
            why.text = why.sentence + ".";
            return why;
        }
        const Choice choice = choose(facts, causes, facts_of);
        const auto sentence_of = [&](Cause cause) {
            return sentence(facts, cause, subject, machine_.matrix_unit);
        };
        why.sentence = sentence_of(causes.front());
        if (choice.cause != causes.front()) why.sentence += ". " + sentence_of(choice.cause);
        why.what_if = choice.what_if;
        why.speedup = choice.speedup;
        why.text = why.sentence + ".";
        if (choice.what_if) {
            // Of the run, the change itself is the subject.
            const bool is_run = &facts == &base_.run;
            why.text = fmt::format("{}; {}.", why.sentence,
                                   consequence(changes_.what_if(*choice.what_if).change, choice.speedup,
                                               is_run ? std::nullopt : speedup_of_run(*choice.what_if)));
        }
        return why;
    }

    /// The change that speeds up a run or layer most, and the cause against which it helps.
    struct Choice {
        Cause cause;
        std::optional<std::size_t> what_if;
        std::optional<double> speedup;  ///< absent if no cycle is left
    };

    /// A change against another cause than the main one must help; one against the main cause is of interest
    /// even if it does not.
    template <class FactsOf>
    Choice choose(const Facts& facts, const std::vector<Cause>& causes, FactsOf facts_of) const {
        const auto gain = [](std::optional<double> speedup) {
            return speedup.value_or(std::numeric_limits<double>::infinity());
        };
        Choice best{.cause = causes.front(), .what_if = {}, .speedup = {}};
        for (const Cause cause : causes) {
            for (const std::size_t i : changes_.against(cause)) {
                const Simulation& changed = *changes_.answer(i).simulation;
                const std::optional<double> found = speedup(facts, base_, facts_of(changed), changed);
                const bool better = !best.what_if || gain(found) > gain(best.speedup);
                const bool helps = gain(found) >= 1.0 + report::noticeable_change;
                if (better && (cause == causes.front() || helps)) best = {cause, i, found};
            }
        }
        return best;
    }

    const Simulation& base_;
    const Changes& changes_;
    const machine::MachineConfig& machine_;
};

}  // namespace

report::Explanations explain(const run::RunConfig& config, const Simulate& simulate) {
    Situation situation{.config = for_cycles(config), .machine = {}, .inferences = 1};
    situation.machine = run::read_machine(situation.config, run::PathFinder(situation.config.file));
    const Answer answer = simulate({&situation.config, 1}).at(0);
    if (!answer.simulation) throw CannotRun(answer.error);
    const Simulation& base = *answer.simulation;
    situation.inferences = base.inferences;
    situation.units = base.units;

    Changes changes(situation);
    changes.want(base.run);
    for (const TagFacts& layer : base.tags) changes.want(layer.facts);
    const std::optional<WhatIf> unchanged = without_accumulator_change(situation);
    if (unchanged) changes.want(*unchanged);
    changes.simulate(simulate);

    const Explainer explainer(base, changes, situation.machine);
    report::Explanations explanations{.run = explainer.explain_run(), .layers = {}, .what_ifs = {}};
    for (std::size_t tag = 0; tag < base.tags.size(); ++tag) {
        explanations.layers.push_back(explainer.explain_layer(tag));
    }
    for (std::size_t i = 0; i < changes.count(); ++i) {
        report::WhatIf shown{.change = changes.what_if(i).change,
                             .settings = {},
                             .speedup = explainer.speedup_of_run(i),
                             .error = changes.answer(i).error,
                             .remark = {}};
        const std::uint32_t rows = situation.machine.accumulators.rows;
        shown.remark = why_slower(changes.what_if(i), rows, shown.speedup);
        if (unchanged && shown.change == unchanged->change) {
            const std::string slower = warning(*unchanged, rows, shown.speedup);
            if (!slower.empty()) explanations.run.text += " " + slower;
        }
        for (const run::Setting& setting : changes.what_if(i).settings) {
            shown.settings.push_back(to_text(setting));
        }
        explanations.what_ifs.push_back(std::move(shown));
    }
    return explanations;
}

}  // namespace systole::explain
