/** Files as vitest imports them. */
declare module "*.css?raw" {
  const text: string;
  export default text;
}
declare module "*.ttf?inline" {
  const address: string;
  export default address;
}
