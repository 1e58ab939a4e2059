#include "tests/support/random_program/shrink.h"

#include <algorithm>
#include <utility>

#include "tests/support/random_program/simplify.h"

namespace systole::tests {
namespace {

class Shrinker {
public:
    Shrinker(FailingCase found, const Judge& judge, std::size_t most_judged)
        : best_(std::move(found)), judge_(judge), left_(most_judged) {}

    FailingCase run() {
        // What one pass takes away may be what kept another from going on.
        do {
            progress_ = false;
            simplify_sync();
            // Before the instructions: values that these make are simpler than those that are there at first.
            for (const isa::MemoryId memory : isa::initial_memories) {
                take(without_initial_rows(best(), memory));
            }
            remove_instructions();
            take(without_blocks(best()));
            simplify_fields();
            simplify_data();
            simplify_machine();
        } while (progress_ && left_ > 0);
        return std::move(best_);
    }

private:
    const Case& best() const { return best_.failing; }

    /// Takes the candidate if it fails as the best one does.
    bool take(const std::optional<Case>& candidate) {
        if (!candidate || left_ == 0) return false;
        --left_;
        std::optional<Failure> failure = judge_(*candidate);
        if (!failure || failure->kind != best_.failure.kind) return false;
        best_ = {*candidate, *std::move(failure)};
        progress_ = true;
        return true;
    }
    template <class Change>
    bool take_changed(Change change) {
        Case candidate = best();
        change(candidate);
        return take(candidate);
    }

    void simplify_sync() {
        if (best().sync == SyncStyle{}) return;
        if (take_changed([](Case& each) { each.sync = {}; })) return;
        for (unsigned SyncStyle::*const percent :
             {&SyncStyle::late_percent, &SyncStyle::early_percent, &SyncStyle::extra_percent}) {
            if (best().sync.*percent != 0) take_changed([&](Case& each) { each.sync.*percent = 0; });
        }
    }

    /// Halves, quarters, ... single instructions; the smallest steps overlap.
    void remove_instructions() {
        for (std::size_t size = best().program.instructions.size(); size > 0; size /= 2) {
            const std::size_t step = size <= 4 ? 1 : size;
            for (std::size_t begin = 0; begin + size <= best().program.instructions.size();) {
                const bool taken =
                    take(without(best(), begin, size)) || take(with_weights_at_use(best(), begin, size));
                if (!taken) begin += step;
            }
        }
    }

    void simplify_fields() {
        for (std::size_t index = 0; index < best().program.instructions.size(); ++index) {
            for (std::size_t field = 0; field < field_count(best(), index); ++field) {
                for (const FieldStep step : {FieldStep::Least, FieldStep::Half, FieldStep::OneLess}) {
                    while (take(with_simpler_field(best(), index, field, step))) {
                    }
                }
            }
        }
    }

    void simplify_data() {
        while (take(without_last_tile(best()))) {
        }
        for (std::size_t tile = 0; tile < best().program.tiles.size(); ++tile)
            take(with_plain_tile(best(), tile));
        for (std::size_t i = 0; i < best().program.buffers.size(); ++i) take(with_plain_buffer(best(), i));
        for (const bool rows : {true, false}) {
            while (take(with_smaller_array(best(), rows, 2)) || take(with_smaller_array(best(), rows, 1))) {
            }
        }
    }

    void simplify_machine() {
        for (const std::string& key : machine_keys(best())) {
            for (std::size_t value = 0; take_simple(key, value); ++value) {
            }
        }
    }
    /// Tries the simple value of that number; false when there are no more, or one was taken.
    bool take_simple(const std::string& key, std::size_t number) {
        const SimpleValue simple = with_simple_value(best(), key, number);
        return simple.exists && !take(simple.changed);
    }

    FailingCase best_;
    const Judge& judge_;
    std::size_t left_;
    bool progress_ = false;
};

}  // namespace

FailingCase shrink(FailingCase found, const Judge& judge, std::size_t most_judged) {
    return Shrinker(std::move(found), judge, most_judged).run();
}

}  // namespace systole::tests
