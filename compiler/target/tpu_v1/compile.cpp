#include "compiler/target/tpu_v1/compile.h"

#include <utility>

#include "compiler/target/tpu_v1/batch_facts.h"
#include "compiler/target/tpu_v1/choose/compare_mappings.h"
#include "compiler/target/tpu_v1/emit/emit_program.h"
#include "compiler/target/tpu_v1/explain.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"
#include "compiler/target/tpu_v1/scheduled_network.h"
#include "compiler/target/tpu_v1/target.h"

namespace systole::tpu_v1 {

mapping::Compiled compile(const Network& network, const machine::MachineConfig& machine,
                          const mapping::Options& options) {
    const mapping::Batches& batches = options.batches;
    const Target target = target_of(machine, options.mapping, options.host);
    ScheduledNetwork scheduled = schedule_network(network, target, batches);
    const auto emit = [&] { return emit_program(scheduled.mapped.analysed.network(), scheduled.schedule); };
    mapping::Compiled compiled;
    compiled.program = emit();
    if (options.explain) compiled.choices = choices(scheduled.mapped, batches);
    if (options.mapping.compare && options.simulate) {
        ComparedMappings compared = compare_mappings(network, target, options, scheduled, compiled.program);
        if (options.explain && compared.alternatives.size() > 1) {
            compiled.choices.push_back(choice_of(compared, batches.inferences));
        }
        if (compared.better) {
            scheduled = *std::move(compared.better);
            compiled.program = emit();
        }
        compiled.mappings = std::move(compared.alternatives);
        compiled.chosen = compared.chosen;
    }
    if (options.explain) compiled.choices.push_back(memory_taken(scheduled.schedule));
    if (options.schedule_text) compiled.schedule_text = to_text(scheduled.schedule);
    compiled.batch = batch_facts(scheduled.mapped.analysed, scheduled.schedule);
    compiled.cut_images = std::move(scheduled.mapped.cut_images);
    return compiled;
}

}  // namespace systole::tpu_v1
