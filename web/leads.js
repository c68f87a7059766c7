// How each view of `heed look` is read. kOpeningRule is said of the head that the page opens on.

export const kLeads = {
  head: "Each line goes from a token on the left to one it looks at on the right, and the thicker the line, the larger the weight; point at a token or click it to see its lines alone.",
  model: "Every small map is one head, with rows that look and columns that are looked at: a stripe beside the diagonal is a head that reads a neighbour, a column one that rests on a single token; click a map to open it.",
  map: "The row is the token that looks, the column the token looked at, and the colour the weight; the weights of a row sum to 1, those of special tokens included.",
  entropy: "The number says how widely a head looks, in bits, as the mean over all tokens: 0 is at one token, MOST at all COUNT alike; click a head to open it.",
  evidence: "Colours say what changes the score of a label, which attention does not: blue words speak for the label, red ones against it.",
  next: "Each row is a token and what the model expected in its place: how probable the token was, the likeliest ones, and on the right what each layer would have said if it were the last (the logit lens); an outline marks the token itself, click a row to see where the model looked.",
  noEvidence: "Colours say how much of each token could have reached the first one by way of attention; only classifiers have a score whose reasons can be asked for.",
};
export const kOpeningRule = "This head is shown first: it has the strongest links over three places and more that other tokens do not share.";
export const kMemory = {
  map: "What a row lacks of 1 went to the memory that the model has before a text.",
  entropy: "The memory that the model has before a text counts here.",
};
export const kHidden = {
  head: "Special tokens are hidden (key s); weights are shown as they are.",
  entropy: "Special tokens that are hidden still count here.",
  evidence: "Special tokens are hidden.",
  next: "Special tokens are shown here all the same.",
};
