/** Cards of catalogues. */
export {};
