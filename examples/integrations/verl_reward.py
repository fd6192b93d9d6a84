"""verl: the reward function that its configuration names, called as its reward loop does.

    reward.custom_reward_function.path=pkg://vouching.integrations.verl
    reward.custom_reward_function.name=structured_score
    +reward.custom_reward_function.reward_kwargs.variant=grounded

A reward model on another machine is asked through vouch serve: OpenRLHF's --remote_rm_url
http://HOST:8400/v1/reward/structured, see docs/serve.md. Prints:
    0.395 1.0
"""

from vouching.integrations.verl import structured_score

row = {"claim": "It opened in 1973.", "source": "The bridge opened in 1973."}
scored = structured_score(
    data_source="claims", solution_str='{"label": "yes"}', ground_truth="Attributable", extra_info=row
)
print(scored["score"], scored["acc"])
