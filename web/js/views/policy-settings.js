// The settings of policies that have their own field. All others are written as JSON.
const number = (name, label, hint, rest) => ({ name, label, kind: "number", min: 0, step: 1, hint, ...rest });
const word = (name, label, words, rest) => ({ name, label, kind: "select", options: [["", "as declared"], ...words], ...rest });

const all = [
  number("max-length", "Max length", "messages in a queue", { operator: true }),
  word("overflow", "When a queue is full", [["drop-head", "drop the oldest"], ["reject-publish", "reject new ones"], ["reject-publish-dlx", "reject and dead-letter them"]], { operator: true }),
  number("message-ttl", "Messages expire after", "milliseconds", { operator: true }),
  { name: "dead-letter-exchange", label: "Dead letters go to exchange", placeholder: "none" },
  number("max-publish-rate", "Max publish rate", "messages a second into a queue", { min: 1, operator: true }),
  word("sync", "Confirms wait for", [["always", "the disk, at once"], ["batch", "the disk, within a few ms"], ["os", "the operating system"]]),
  { name: "dead-letter-routing-key", label: "with routing key", more: true },
  number("delivery-limit", "Delivery limit", "", { more: true, operator: true }),
  number("max-length-bytes", "Max length in bytes", "bytes in a queue", { more: true, operator: true }),
  number("max-publish-bytes-rate", "Max publish rate in bytes", "bytes a second into a queue", { min: 1, more: true, operator: true }),
  number("expires", "Unused queues are deleted after", "milliseconds", { min: 1, more: true, operator: true }),
  word("delayed-retry-type", "Delayed retry", [["disabled", "never"], ["all", "always"], ["failed", "when its consumer failed"], ["returned", "when it was returned"]], { more: true }),
  number("delayed-retry-min", "Wait at first", "milliseconds", { more: true }),
  number("delayed-retry-max", "Wait at most", "milliseconds", { more: true }),
  { name: "alternate-exchange", label: "Alternate exchange", more: true, hint: "of exchanges: gets what no binding matches" },
];

/** The fields for a definition, which may be that of an operator policy. */
export function fieldsOf(definition, operator) {
  const own = all.filter((f) => f.operator || !operator);
  const rest = Object.fromEntries(Object.entries(definition).filter(([k]) => !own.some((f) => f.name === k)));
  return [
    ...own.map((f) => ({ ...f, value: definition[f.name] === undefined ? undefined : String(definition[f.name]) })),
    { name: "others", label: "Other settings", kind: "json", rows: 2, more: true, value: Object.keys(rest).length > 0 ? JSON.stringify(rest, null, 2) : "", hint: "JSON" },
  ];
}

/** The definition from the values of such fields, which are removed from the values. */
export function definitionOf(values) {
  const definition = { ...values.others };
  delete values.others;
  for (const f of all) {
    if (values[f.name] !== undefined) definition[f.name] = values[f.name];
    delete values[f.name];
  }
  return definition;
}
