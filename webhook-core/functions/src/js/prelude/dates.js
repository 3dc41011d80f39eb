// Date, made when a script first names it; as in `collections`.
(function ($, kept) {
  "use strict";
  const { paying, constructor, refuse, natives } = kept;
  const { Date } = natives;

  Date.parse = paying(Date.parse);
  refuse(Date.prototype, "toLocaleString", "Date.prototype.toLocaleString");
  refuse(Date.prototype, "toLocaleDateString", "Date.prototype.toLocaleDateString");
  refuse(Date.prototype, "toLocaleTimeString", "Date.prototype.toLocaleTimeString");
  return { __proto__: null, Date: constructor(Date) };
})
